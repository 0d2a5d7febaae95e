import type pg from 'pg';
import { type HeldOutput, type Holding, packedId } from '#indexer/mempool/pending/pending-transaction.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

interface HeldRow {
  txid: Txid;
  vout: number;
  sat_offset: number;
  value: Sats;
  script: Buffer;
  inscription_txid: Txid;
  inscription_index: number;
  key: InscriptionKey;
}

/**
 * Indexed, unspent outputs with inscriptions, looked up by fingerprint (`storedFingerprint`), keyed by outpoint (36
 * bytes as latin-1 text). The result may include other outputs with the same fingerprint.
 */
export async function heldOutputs(
  client: pg.Pool | pg.ClientBase,
  fingerprints: readonly string[],
): Promise<Map<string, HeldOutput>> {
  const found = new Map<string, HeldOutput & { holdings: Holding[] }>();
  if (fingerprints.length === 0) return found;
  const { rows } = await client.query<HeldRow>({
    name: 'mempool-held-outputs',
    text: `SELECT coalesce(l.txid, i.txid) AS txid, l.vout, l.sat_offset, l.value, l.script,
                  i.txid AS inscription_txid, i.index AS inscription_index, l.key
             FROM chain.locations AS l
             JOIN chain.inscriptions AS i USING (key)
            WHERE l.outpoint_fingerprint = ANY ($1::bigint[]) AND l.spent_height IS NULL
            ORDER BY l.key`,
    values: [fingerprints],
  });
  for (const row of rows) {
    const outpoint = packedId(row.txid, row.vout);
    let output = found.get(outpoint);
    if (output === undefined) {
      output = {
        outpoint: Buffer.from(outpoint, 'latin1'),
        value: row.value,
        script: row.script,
        holdings: [],
      };
      found.set(outpoint, output);
    }
    const inscription = packedId(row.inscription_txid, row.inscription_index);
    output.holdings.push({ inscription, key: row.key, satOffset: row.sat_offset });
  }
  return found;
}
