"""Operations as modules of StableHLO, the text that PJRT plugins compile for their devices.

`spec`: the description of an operation without its values; the reference of kinds and attributes. `emit`: from there to
the text. `builder` and `types` write it, `views` turns flat storages into operands, and results into storages; `kinds`
has the families of operations. `program`: several operations as one module. `accuracy`: how far results may be from
exact ones.

Nothing here is imported before an operation runs on such a device.
"""
