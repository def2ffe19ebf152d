// RUN: piton-lsp-server -lit-test < %s | FileCheck %s
// The language server knows our dialects: one broken line, one diagnostic at its place.
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":"","capabilities":{},"trace":"off"}}
// CHECK: "result": {
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///k.ttir","languageId":"mlir","version":1,"text":"tt.func @f(%x: tensor<8xf32>) {\n  %0 = ascend.flip %x {dim = 9 : i64} : tensor<8xf32>\n  tt.return\n}"}}}
// CHECK: "method": "textDocument/publishDiagnostics"
// CHECK: "message": "'ascend.flip' op dim 9 is outside the rank 1"
// CHECK: "line": 1
// -----
{"jsonrpc":"2.0","id":3,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
