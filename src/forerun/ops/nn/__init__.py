"""Networks.

`activation` and `activation_by_name`; `softmax`; `losses`; `layers`, as dropout and embeddings; `norm`; `conv_windows`,
then `conv`, `pool` and `deformable`; `attention`; `ctc`; `sequence`; `control_flow`.
"""
