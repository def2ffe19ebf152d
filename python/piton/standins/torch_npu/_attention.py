# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch_npu.npu_fusion_attention`: the reference that attention tutorials compare with."""

import torch

_LAYOUTS = "BSH, SBH, BSND, BNSD or TND"
_UNBOUNDED = 2147483647


def npu_fusion_attention(
    query,
    key,
    value,
    head_num,
    input_layout,
    pse=None,
    padding_mask=None,
    atten_mask=None,
    scale=1.0,
    keep_prob=1.0,
    pre_tockens=_UNBOUNDED,
    next_tockens=_UNBOUNDED,
    inner_precise=0,
    prefix=None,
    actual_seq_qlen=None,
    actual_seq_kvlen=None,
    sparse_mode=0,
    gen_mask_parallel=True,
    sync=False,
):
    """dropout(softmax(mask(scale * (query key^T + pse)))) value, computed in float32.

    input_layout: BSH, SBH, BSND, BNSD, or TND with actual_seq_qlen and actual_seq_kvlen (ends of
    the sequences). Key and value may have fewer heads, a divisor of head_num.
    atten_mask: bool or uint8, true where masked out, broadcast to [B, N, Sq, Skv].
    sparse_mode: 0 (atten_mask and, beside one, the band of pre_tockens and next_tockens), 1 (the
    whole atten_mask), 2 (causal from the first row), 3 (causal to the last row), 4 (a band of
    pre_tockens and next_tockens around the diagonal that ends in the last corner).

    Returns (attention, softmax_max, softmax_sum, empty, seed, offset, numels): attention in the
    layout and type of query, the row maxima and sums in float32 as [B, N, Sq, 8] (TND: [T, N, 8])
    and, as there is no mask generator to describe, three zeros.
    """
    for name, given in (("padding_mask", padding_mask), ("prefix", prefix)):
        if given is not None:
            raise NotImplementedError(
                f"npu_fusion_attention: {name} is not supported; leave it out"
            )
    if sparse_mode not in (0, 1, 2, 3, 4):
        raise NotImplementedError(
            f"npu_fusion_attention: sparse_mode is {sparse_mode}; supported are 0 to 4"
        )
    window = (sparse_mode, int(pre_tockens), int(next_tockens))
    if input_layout == "TND":
        return _packed(
            query, key, value, pse, atten_mask, scale, keep_prob, window,
            actual_seq_qlen, actual_seq_kvlen,
        )  # fmt: skip
    q = _to_bnsd(query, head_num, input_layout)
    k = _to_bnsd(key, _kv_heads(query, key, head_num, input_layout), input_layout)
    v = _to_bnsd(value, k.shape[1], input_layout)
    out, largest, total = _attention(q, k, v, pse, atten_mask, scale, keep_prob, window)
    out = _from_bnsd(out, input_layout).to(query.dtype)
    return out, _times8(largest), _times8(total), query.new_empty(0), 0, 0, 0


def _packed(q, k, v, pse, mask, scale, keep_prob, window, q_ends, kv_ends):
    if not q_ends or not kv_ends or len(q_ends) != len(kv_ends):
        raise ValueError(
            "npu_fusion_attention: layout TND takes actual_seq_qlen and actual_seq_kvlen, the ends "
            f"of as many sequences each, not {q_ends} and {kv_ends}"
        )
    outs, maxima, sums = [], [], []
    q_start = kv_start = 0
    for q_end, kv_end in zip(q_ends, kv_ends, strict=True):
        part = [
            t[start:end].transpose(0, 1).unsqueeze(0)
            for t, start, end in ((q, q_start, q_end), (k, kv_start, kv_end), (v, kv_start, kv_end))
        ]
        cut = mask
        if mask is not None and window[0] in (0, 1):
            cut = mask[..., : q_end - q_start, : kv_end - kv_start]
        out, largest, total = _attention(*part, pse, cut, scale, keep_prob, window)
        outs.append(out[0].transpose(0, 1))
        maxima.append(largest[0].transpose(0, 1))
        sums.append(total[0].transpose(0, 1))
        q_start, kv_start = q_end, kv_end
    out = torch.cat(outs).to(q.dtype)
    return out, _times8(torch.cat(maxima)), _times8(torch.cat(sums)), q.new_empty(0), 0, 0, 0


def _attention(q, k, v, pse, mask, scale, keep_prob, window):
    """q [B, N, Sq, D], k and v [B, Nkv, Skv, D]: result, row maxima and row sums in float32."""
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            f"npu_fusion_attention: {q.shape[1]} query heads are no multiple of {k.shape[1]} heads"
        )
    repeat = q.shape[1] // k.shape[1]
    k, v = (t.float().repeat_interleave(repeat, 1) for t in (k, v))
    scores = q.float() @ k.transpose(-1, -2)
    if pse is not None:
        scores = scores + pse.float()
    scores = scores * scale
    hidden = _hidden(scores, mask, window)
    if hidden is not None:
        scores = scores.masked_fill(hidden, float("-inf"))
    largest = scores.amax(-1, keepdim=True)
    # A row without any visible key gives zeros, not NaN.
    safe = torch.where(largest.isinf(), torch.zeros_like(largest), largest)
    weights = torch.exp(scores - safe)
    total = weights.sum(-1, keepdim=True)
    weights = weights / torch.where(total == 0, torch.ones_like(total), total)
    if keep_prob < 1:
        weights = torch.nn.functional.dropout(weights, 1 - keep_prob)
    return weights @ v, largest.squeeze(-1), total.squeeze(-1)


def _hidden(scores, mask, window):
    """The positions that a query must not see, or None."""
    mode, before, after = window
    rows, columns = scores.shape[-2:]
    if mode in (0, 1):
        hidden = None if mask is None else mask.to(scores.device).bool()
        if mode == 1 and mask is None:
            raise ValueError("npu_fusion_attention: sparse_mode 1 takes the whole atten_mask")
        if mode == 1 or (mask is None) or (before >= rows and after >= columns):
            return hidden
        offset = 0
    else:
        hidden = None
        offset = 0 if mode == 2 else columns - rows
        before, after = (before, after) if mode == 4 else (_UNBOUNDED, 0)
    # Distance of a key from the diagonal: positive is later than the query.
    i = torch.arange(rows, device=scores.device).unsqueeze(1)
    j = torch.arange(columns, device=scores.device)
    distance = j - i - offset
    outside = (distance > after) | (distance < -before)
    return outside if hidden is None else hidden | outside


def _to_bnsd(t, heads, layout):
    if layout == "BNSD":
        return t
    if layout == "BSND":
        return t.transpose(1, 2)
    if layout == "BSH":
        return t.unflatten(-1, (heads, -1)).transpose(1, 2)
    if layout == "SBH":
        return t.unflatten(-1, (heads, -1)).permute(1, 2, 0, 3)
    raise ValueError(f"npu_fusion_attention: input_layout is {layout!r}; it takes {_LAYOUTS}")


def _from_bnsd(t, layout):
    if layout == "BNSD":
        return t
    t = t.transpose(1, 2)
    if layout == "BSND":
        return t
    t = t.flatten(-2)
    return t if layout == "BSH" else t.transpose(0, 1)


def _kv_heads(query, key, heads, layout):
    if layout in ("BNSD", "BSND"):
        return key.shape[layout.index("N")]
    size = query.shape[-1] // heads  # elements of one head
    return key.shape[-1] // size


def _times8(t):
    return t.unsqueeze(-1).expand(*t.shape, 8).contiguous()
