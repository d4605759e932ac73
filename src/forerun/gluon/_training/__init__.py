"""The parts of `Trainer` beside updates.

`collectives`, values to and from several devices; `load_balancer`, how many examples each gets; `optimizer_state`.
"""
