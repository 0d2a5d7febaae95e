import type { ClientBase } from 'pg';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Outpoint } from './output.queries.ts';

/** An output of a script that is in a block. */
export interface MinedOutput extends Outpoint {
  readonly script: Uint8Array;
  readonly block: BlockRef;
}

/** Units of a rune that an output received. */
export interface ReceivedRune {
  /** The transaction that etched the rune. */
  readonly etching: Txid;
  readonly rune: Rune;
  /** The rune's name with spacers. */
  readonly name: string;
  readonly divisibility: number;
  readonly amount: bigint;
}

/** The contents that an output received in its block. They are known even if the output has been spent since. */
export interface ReceivedContents {
  readonly runes: readonly ReceivedRune[];
  /** True if an inscription came with the output and has not been moved since. */
  readonly isInscribed: boolean;
}

interface Row {
  is_known: boolean;
  is_inscribed: boolean;
  runes: readonly {
    /** In hex, internal order. */
    readonly etching: string;
    readonly rune: string;
    readonly spacers: number;
    readonly divisibility: number;
    readonly amount: string;
  }[];
}

const byScript = 'rune_balances_script';

/**
 * The contents that outputs received in their blocks, in the order of the request. `null` if the index lacks the block
 * or its runes. Rows are found by script and height, so spent outputs are found too.
 */
export async function receivedContents(
  client: ClientBase,
  outputs: readonly MinedOutput[],
): Promise<(ReceivedContents | null)[]> {
  if (outputs.length === 0) return [];
  const built = await builtIndexes(client, [byScript, 'locations_owner']);
  if (built.size < 2) return outputs.map(() => null);
  const { rows } = await client.query<Row>(receivedSql, [
    outputs.map(({ txid }) => Buffer.from(txid)),
    outputs.map(({ vout }) => vout),
    outputs.map(({ script }) => Buffer.from(script)),
    outputs.map(({ block }) => block.height),
    outputs.map(({ block }) => Buffer.from(block.hash)),
  ]);
  return rows.map(({ is_known: isKnown, is_inscribed: isInscribed, runes }) =>
    isKnown ? { isInscribed, runes: runes.map(runeOf) } : null,
  );
}

const runeOf = ({ etching, rune, spacers, divisibility, amount }: Row['runes'][number]): ReceivedRune => ({
  etching: trustedTxid(Buffer.from(etching, 'hex')),
  rune: asRune(BigInt(rune)),
  name: formatSpacedRune({ rune: asRune(BigInt(rune)), spacers }),
  divisibility,
  amount: BigInt(amount),
});

/**
 * SQL: the contents. Each script is looked up only once for inscriptions, because anyone may send thousands of outputs
 * to one script.
 */
const receivedSql = `WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[], $4::integer[], $5::bytea[])
             WITH ORDINALITY AS o (txid, vout, script, height, hash, place)
  ), inscribed AS MATERIALIZED (
    SELECT DISTINCT coalesce(l.txid, i.txid) AS txid, l.vout::bigint AS vout
      FROM (SELECT DISTINCT script FROM asked) AS a
      JOIN chain.locations AS l ON chain.hash32(l.script) = chain.hash32(a.script) AND l.spent_height IS NULL
       AND l.script = a.script AND l.place = 0
      JOIN chain.inscriptions AS i ON i.key = l.key
  )
  SELECT EXISTS (SELECT FROM chain.blocks AS b WHERE b.height = o.height AND b.hash = o.hash)
         AND EXISTS (SELECT FROM chain.derived_tables AS d
                      WHERE d.name = 'runes' AND ((d.is_followed AND NOT d.is_remade) OR d.tip_height >= o.height))
         AND coalesce((SELECT anchored FROM chain.rune_blocks AS r WHERE r.height = o.height),
                      (SELECT d.from_height > o.height FROM chain.derived_tables AS d WHERE d.name = 'runes')) AS is_known,
         EXISTS (SELECT FROM inscribed AS i WHERE i.txid = o.txid AND i.vout = o.vout) AS is_inscribed,
         (SELECT coalesce(jsonb_agg(jsonb_build_object('etching', encode(r.txid, 'hex'), 'rune', r.rune::text,
                   'spacers', r.spacers, 'divisibility', r.divisibility, 'amount', b.amount::text) ORDER BY r.key), '[]')
            FROM chain.rune_balances AS b JOIN chain.runes AS r ON r.key = b.rune_key
           WHERE chain.hash32(b.script) = chain.hash32(o.script) AND b.script = o.script AND b.height = o.height
             AND b.txid = o.txid AND b.vout = o.vout) AS runes
    FROM asked AS o ORDER BY o.place`;
