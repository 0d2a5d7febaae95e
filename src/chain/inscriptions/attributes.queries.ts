import type { ClientBase } from 'pg';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Maximum number of bytes of attributes that are read for a page. Honest attributes have a few hundred bytes. */
const attributesBytesMax = 16_384;

/** The properties that an inscription has about itself. */
export interface OwnAttributes {
  /** JSON of the inscription's title and traits. `null` if there are none, or if they are too long. */
  readonly json: string | null;
  /** Number of items of the inscription's gallery. */
  readonly galleryItems: number;
}

/** Title and traits of an inscription, and the length of its gallery. Costs one lookup by key. */
export async function ownAttributes(client: ClientBase, key: InscriptionKey): Promise<OwnAttributes> {
  const { rows } = await client.query<{ attributes: Buffer | null; items: number }>(
    `SELECT CASE WHEN octet_length(attributes) <= ${attributesBytesMax} THEN attributes END AS attributes, items
     FROM chain.properties WHERE key = $1`,
    [key],
  );
  const [row] = rows;
  return { json: row?.attributes?.toString('utf8') ?? null, galleryItems: row?.items ?? 0 };
}
