import { createHash } from 'node:crypto';
import type pg from 'pg';
import { charms as charmBits } from '#kernel/primitives/charm.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { foldUtf8 } from '#kernel/text/fold.ts';
import { isSearchableType } from '#kernel/text/searchable.ts';
import { countChildren } from './parent-children-rows.ts';

/** An inscription for tests of the read side. Only rows describe it, so there is no block to parse. */
export interface RowSpec {
  /** Determines the transaction id, and thus the inscription id. */
  readonly name: string;
  readonly index?: number;
  readonly type?: string | Uint8Array | null;
  readonly body?: string | Uint8Array | null;
  readonly encoding?: string | Uint8Array;
  /** Inscription id. */
  readonly delegate?: string;
  readonly parents?: readonly string[];
  readonly metadata?: string;
  readonly metaprotocol?: string;
  readonly properties?: string;
  readonly number?: number | null;
  readonly curse?: number;
  readonly charms?: number;
  readonly fee?: number | null;
  readonly location?: {
    readonly place?: 0 | 1 | 2;
    readonly vout?: number;
    readonly offset?: number;
    readonly value?: number | null;
    readonly script?: Uint8Array | null;
    readonly spentHeight?: number;
  };
}

export interface BlockSpec {
  readonly height: number;
  readonly anchored?: boolean;
  readonly hasSpent?: boolean;
  readonly islandHeight?: number;
  readonly rows: readonly RowSpec[];
}

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();
const bytesOf = (value: string | Uint8Array): Buffer => Buffer.from(value as string);

export const txidOf = (name: string): Buffer => sha256(`tx ${name}`);
export const idOf = (name: string, index = 0): string => formatInscriptionId(asTxid(txidOf(name)), index);
export const blockHashOf = (height: number): Buffer => sha256(`block ${height}`);

const idBytes = (text: string): Buffer => {
  const [txid = '', index] = text.split('i', 2);
  const bytes = Buffer.alloc(36);
  bytes.set(Buffer.from(txid, 'hex').reverse());
  bytes.writeUInt32LE(Number(index), 32);
  return bytes;
};

/** A P2WPKH script, so that the owner has an address. */
export const someScript = Buffer.concat([Buffer.from([0x00, 0x14]), Buffer.alloc(20, 7)]);

/** Fills the chain tables of an empty database and sets the tip. */
export async function insertChain(
  pool: pg.Pool,
  blocks: readonly BlockSpec[],
  network = 'regtest',
): Promise<void> {
  const writer = new RowWriter(pool);
  for (const block of blocks) await writer.block(block);
  const tip = blocks.at(-1);
  await pool.query(
    `INSERT INTO chain.state (network, fingerprint_key, tip_height, tip_hash, text_rules, cbor_rules)
     VALUES ($1, $2, $3, $4, 1, 1)`,
    [network, Buffer.alloc(32, 1), tip?.height ?? null, tip === undefined ? null : blockHashOf(tip.height)],
  );
}

class RowWriter {
  readonly #pool: pg.Pool;
  #key = 0;
  #contentId = 0;
  #metadataId = 0;
  #blessed = 0;
  #cursed = 0;
  readonly #contents = new Map<string, number>();
  readonly #keys = new Map<string, number>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async block(spec: BlockSpec): Promise<void> {
    const anchored = spec.anchored ?? true;
    const firstKey = this.#key;
    for (const row of spec.rows) await this.#inscription(row, spec.height);
    await this.#pool.query(
      `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height,
         anchored, has_spent, first_key, next_key, next_content_id, next_metadata_id, sequence, blessed, cursed,
         unbound, lost_sats)
       VALUES ($1, $2, $3, $4, '2024-01-02T03:04:05.678Z', 1000, 10, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)`,
      [
        spec.height,
        blockHashOf(spec.height),
        Buffer.alloc(80),
        1_700_000_000 + spec.height * 600,
        spec.islandHeight ?? 0,
        anchored,
        spec.hasSpent ?? true,
        firstKey,
        this.#key,
        this.#contentId,
        this.#metadataId,
        anchored ? this.#key : null,
        anchored ? this.#blessed : null,
        anchored ? this.#cursed : null,
        anchored ? 0 : null,
      ],
    );
  }

  async #inscription(row: RowSpec, height: number): Promise<void> {
    const key = this.#key++;
    const index = row.index ?? 0;
    this.#keys.set(idOf(row.name, index), key);
    const type = row.type === null ? null : bytesOf(row.type ?? 'text/plain;charset=utf-8');
    const isCursed = (row.charms ?? 0) & charmBits.cursed;
    const count = isCursed ? -++this.#cursed : this.#blessed++;
    const number = row.number === undefined ? count : row.number;
    await this.#pool.query(
      `INSERT INTO chain.inscriptions (key, txid, index, height, tx_index, input, content_id, content_type, number, curse,
         charms, fee, flags, metadata_id)
       VALUES ($1, $2, $3, $4, 1, 0, $5, $6, $7, $8, $9, $10, 0, $11)`,
      [
        key,
        txidOf(row.name),
        index,
        height,
        await this.#content(row, type),
        type,
        number,
        row.curse ?? 0,
        row.charms ?? 0,
        row.fee === undefined ? 321 : row.fee,
        await this.#metadata(row),
      ],
    );
    await this.#details(row, key, height);
    await this.#location(row, key, height);
  }

  async #content(row: RowSpec, type: Buffer | null): Promise<number | null> {
    if (row.body === null) return null;
    const body = bytesOf(row.body ?? `content of ${row.name}`);
    const isText = type !== null && isSearchableType(type);
    const variant = (row.encoding === undefined ? 0 : 4) + (isText ? 8 : 0);
    const hash = sha256(body);
    const known = `${hash.toString('hex')} ${variant}`;
    const there = this.#contents.get(known);
    if (there !== undefined) return there;
    const contentId = this.#contentId++;
    this.#contents.set(known, contentId);
    const folded = isText ? foldUtf8(body) : null;
    await this.#pool.query(
      `INSERT INTO chain.contents (content_id, sha256, variant, text, body, folded, first_key)
       VALUES ($1, $2, $3, $4, $5, $6, (SELECT coalesce(max(key) + 1, 0) FROM chain.inscriptions))`,
      [contentId, hash, variant, isText ? (folded === null ? 1 : 2) : 0, body, folded],
    );
    return contentId;
  }

  async #metadata(row: RowSpec): Promise<number | null> {
    if (row.metadata === undefined) return null;
    const metadataId = this.#metadataId++;
    const json = bytesOf(row.metadata);
    await this.#pool.query(
      'INSERT INTO chain.metadata_texts (metadata_id, sha256, json, folded) VALUES ($1, $2, $3, $4)',
      [metadataId, sha256(json), json, foldUtf8(json)],
    );
    return metadataId;
  }

  async #details(row: RowSpec, key: number, height: number): Promise<void> {
    const { encoding, delegate, parents = [], metaprotocol, properties } = row;
    const claimed = parents.length === 0 ? null : Buffer.concat(parents.map(idBytes));
    const values = [
      encoding === undefined ? null : bytesOf(encoding),
      delegate === undefined ? null : idBytes(delegate),
      claimed,
      metaprotocol === undefined ? null : bytesOf(metaprotocol),
      properties ?? null,
    ];
    if (values.every((value) => value === null)) return;
    await this.#pool.query(
      `INSERT INTO chain.inscription_details
         (key, content_encoding, delegate, claimed_parents, metaprotocol, properties_json)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [key, ...values],
    );
    for (const [position, parent] of parents.entries()) {
      const parentKey = this.#keys.get(parent);
      if (parentKey === undefined) continue;
      await this.#pool.query('INSERT INTO chain.parents VALUES ($1, $2, $3, $4)', [
        key,
        position,
        parentKey,
        height,
      ]);
      await countChildren(this.#pool, [{ child: key, parent: parentKey }]);
    }
  }

  async #location(row: RowSpec, key: number, height: number): Promise<void> {
    const {
      place = 0,
      vout = 0,
      offset = 0,
      value = 546,
      script = someScript,
      spentHeight,
    } = row.location ?? {};
    const isOutput = place === 0;
    await this.#pool.query(
      `INSERT INTO chain.locations (key, height, step, place, txid, vout, sat_offset, value, script, spent_height)
       VALUES ($1, $2, 1, $3, NULL, $4, $5, $6, $7, $8)`,
      [
        key,
        height,
        place,
        isOutput ? vout : null,
        offset,
        isOutput ? value : null,
        isOutput ? script : null,
        spentHeight ?? null,
      ],
    );
  }
}
