/**
 * SQL: the units of a rune that the index has in an output. The arguments are columns or parameters. SQL NULL if the
 * index has no units there, lacks the block, or is being rebuilt from the beginning. During such a rebuild there is no
 * index on outputs, and each look-up would read all balances. The rune is identified by its etching and its name,
 * because ids change in a reorganisation.
 */
export const unitsHeld = (
  output: { readonly txid: string; readonly vout: string },
  rune: { readonly etching: string; readonly name: string },
): string =>
  `(SELECT sum(b.amount) FROM chain.rune_balances AS b JOIN chain.runes AS r ON r.key = b.rune_key
     WHERE chain.hash64(b.txid, b.vout) = chain.hash64(${output.txid}, ${output.vout}) AND b.spent_height IS NULL
       AND b.txid = ${output.txid} AND b.vout = ${output.vout} AND r.txid = ${rune.etching} AND r.rune = ${rune.name}
       AND EXISTS (SELECT FROM chain.derived_tables AS d WHERE d.name = 'runes' AND d.is_followed))`;
