-- What a block with gaps before it did to runes is not known: it has no number of events, where it had 0.
DELETE FROM chain.outbox_texts t USING chain.rune_blocks b
WHERE t.kind = 1 AND b.height = t.height AND NOT b.anchored;
