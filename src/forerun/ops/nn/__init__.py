"""Networks.

`functions`, what layers share: softmax, losses, dropout, embeddings; `activation`; `norm`; `conv_windows`, then
`conv`, `pool` and `deformable`; `attention`; `ctc`; `sequence`; `control_flow`; `mxnet_functions`.
"""
