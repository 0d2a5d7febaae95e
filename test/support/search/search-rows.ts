import { createHash } from 'node:crypto';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { foldUtf8 } from '#kernel/text/fold.ts';
import { dropProperties, fillPropertyRows } from '#test/support/chain/rows/property-rows.ts';

/** A body as it is stored. */
export interface TestContent {
  readonly type: string;
  readonly body: Uint8Array;
  /** The searchable text: the body or its decoded form; `null` if this is not text. */
  readonly text: string | null;
  /** How the body is encoded: 0 not, 1 br, 2 gzip, 3 zstd, 4 unknown. Default: 0. */
  readonly encoding?: number;
  /** The decoded body, if it can be decoded. */
  readonly decoded?: Uint8Array;
}

export interface TestInscription {
  readonly content: TestContent | null;
  readonly metadata: string | null;
  /**
   * The content type, with one character per byte (latin1); `null` if there is none. Default: the type of the content.
   */
  readonly contentType?: string | null;
  /** Which number the inscription gets: the next one, the next negative one, or none. Default: `blessed`. */
  readonly numbered?: 'blessed' | 'cursed' | 'unknown';
  /** Curse as stored (kernel/primitives/curse.ts); `null` if unknown, which is the default. */
  readonly curse?: number | null;
  readonly metaprotocol?: string | null;
  /** Indices of earlier inscriptions that are the parents, counted modulo the number of earlier inscriptions. */
  readonly parents?: readonly number[];
  /**
   * Properties as ord shows them (indexer/parse/property-fields.ts). Every second block stores them as one text, like
   * an earlier version did.
   */
  readonly properties?: string | null;
}

/** An inscription in the tables. */
export interface StoredInscription {
  readonly content: TestContent | null;
  readonly metadata: string | null;
  readonly contentType: string | null;
  readonly number: number | null;
  readonly curse: number | null;
  readonly metaprotocol: string | null;
  /** Keys of the inscription's parents, each once. */
  readonly parents: readonly number[];
  readonly properties: string | null;
  readonly key: number;
  readonly height: number;
  /** Time of the block, in seconds since 1970. */
  readonly time: number;
}

/** A chain of blocks with inscriptions. SQL writes the rows, because the writer is not under test. */
export interface SearchRows {
  readonly inscriptions: readonly StoredInscription[];
  readonly height: number;
  /** Commits one block with a time (seconds since 1970, default 0) and returns its height. */
  addBlock(inscriptions: readonly TestInscription[], time?: number): Promise<number>;
  /** Removes the blocks above a height, one after the other, in one transaction with `hook`. */
  undoAbove(height: number, hook: UndoHook): Promise<void>;
  /** Removes all blocks. */
  clear(): Promise<void>;
}

type UndoHook = (
  client: pg.ClientBase,
  left: { nextKey: number; nextContentId: number; nextMetadataId: number },
) => Promise<void>;

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const addOutboxRow = `
  INSERT INTO chain.outbox (sequence, height, block_hash, event_count, cancels)
  SELECT (SELECT coalesce(max(sequence), 0) + 1 FROM chain.outbox), $1, $2, 0, $3`;

/** Makes a txid from a key. */
export const testTxid = (key: number): Buffer => sha256(Buffer.from(`transaction ${key}`));

/** The id of the inscription with a key. */
export const testId = (key: number): InscriptionId => ({ txid: asTxid(testTxid(key)), index: 0 });

export const text = (value: string, type = 'text/plain'): TestContent => ({
  type,
  body: Buffer.from(value),
  text: value,
});

/** An inscription as stored in the tables. */
export function storedInscription(
  inscription: TestInscription,
  place: Pick<StoredInscription, 'key' | 'height' | 'time' | 'number'>,
): StoredInscription {
  const { content, metadata } = inscription;
  const {
    contentType = content?.type ?? null,
    curse = null,
    metaprotocol = null,
    properties = null,
  } = inscription;
  const parents = (inscription.parents ?? []).flatMap((parent) =>
    place.key === 0 ? [] : [parent % place.key],
  );
  return {
    ...place,
    content,
    metadata,
    contentType,
    curse,
    metaprotocol,
    parents: [...new Set(parents)],
    properties,
  };
}

export async function createSearchRows(pool: pg.Pool): Promise<SearchRows> {
  await pool.query(
    `INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules) VALUES ('regtest', $1, 1, 1)`,
    [Buffer.alloc(32)],
  );
  return new SqlRows(pool);
}

/** Returns the values of the columns `text` and `folded` of chain.contents. */
function storedText(content: TestContent): { text: number; folded: Buffer | null } {
  if (content.text === null) return { text: 0, folded: null };
  const searched = Buffer.from(content.text);
  const folded = foldUtf8(searched);
  if (folded === null && (content.encoding ?? 0) === 0) return { text: 1, folded: null };
  return { text: 2, folded: Buffer.from(folded ?? searched) };
}

interface Block {
  readonly hash: Buffer;
  /** Sequence of the block's row in the outbox. */
  readonly sequence: number;
  readonly nextKey: number;
  readonly nextContentId: number;
  readonly nextMetadataId: number;
}

/** Values of a row, by column and type: `key integer`. */
type Row = Readonly<Record<string, number | string | Buffer | null>>;

/** Inserts rows with the same columns in one statement. */
async function insertRows(tx: pg.ClientBase, table: string, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0]!).map((column) => column.split(' ') as [string, string]);
  const names = columns.map(([name]) => name).join(', ');
  const lists = columns.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ');
  await tx.query(
    `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${lists})`,
    columns.map((column) => rows.map((row) => row[column.join(' ')])),
  );
}

class SqlRows implements SearchRows {
  readonly #pool: pg.Pool;
  inscriptions: StoredInscription[] = [];
  #blocks: Block[] = [];
  #contents = new Map<string, number>();
  #metadata = new Map<string, number>();
  /** Numbers of inscriptions so far. */
  #numbers = { blessed: 0, cursed: 0 };
  /** Number of outbox rows so far. Block hashes contain it, which makes them unique. */
  #sequence = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  get height(): number {
    return this.#blocks.length - 1;
  }

  get #next(): Omit<Block, 'hash' | 'sequence'> {
    return this.#blocks.at(-1) ?? { nextKey: 0, nextContentId: 0, nextMetadataId: 0 };
  }

  async addBlock(inscriptions: readonly TestInscription[], time = 0): Promise<number> {
    const height = this.#blocks.length;
    const { nextKey: firstKey } = this.#next;
    await withTransaction(this.#pool, async (tx) => {
      const stored = inscriptions.map((inscription, index) =>
        this.#stored(inscription, firstKey + index, height, time),
      );
      await this.#insert(tx, stored);
      if (height % 2 === 0) await fillPropertyRows(tx, { firstKey, nextKey: firstKey + inscriptions.length });
      const sequence = this.#sequence + 1;
      const hash = testTxid(-sequence);
      const block = {
        hash,
        sequence,
        nextKey: firstKey + inscriptions.length,
        nextContentId: this.#contents.size,
        nextMetadataId: this.#metadata.size,
      };
      await tx.query(
        `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored,
           has_spent, first_key, next_key, next_content_id, next_metadata_id)
         VALUES ($1, $2, $3, $4, '2026-01-02T03:04:05.678Z', 1, 1, 0, true, true, $5, $6, $7, $8)`,
        [
          height,
          hash,
          Buffer.alloc(80),
          time,
          firstKey,
          block.nextKey,
          block.nextContentId,
          block.nextMetadataId,
        ],
      );
      await tx.query(addOutboxRow, [height, hash, null]);
      await tx.query('UPDATE chain.state SET tip_height = $1, tip_hash = $2', [height, hash]);
      this.#sequence = sequence;
      this.#blocks.push(block);
    });
    return height;
  }

  #stored(inscription: TestInscription, key: number, height: number, time: number): StoredInscription {
    const { numbered = 'blessed' } = inscription;
    const before = numbered === 'unknown' ? 0 : this.#numbers[numbered]++;
    const ordsNumber = { blessed: before, cursed: -1 - before, unknown: null }[numbered];
    return storedInscription(inscription, { key, height, time, number: ordsNumber });
  }

  /** Inserts rows with one statement for each table, because test blocks have thousands of inscriptions. */
  async #insert(tx: pg.ClientBase, inscriptions: readonly StoredInscription[]): Promise<void> {
    const contents: Row[] = [];
    const metadata: Row[] = [];
    const contentIds = inscriptions.map(({ content, key }) =>
      content === null ? null : this.#contentId(content, key, contents),
    );
    const metadataIds = inscriptions.map(({ metadata: json }) =>
      json === null ? null : this.#metadataId(json, metadata),
    );
    await insertRows(tx, 'chain.contents', contents);
    await insertRows(tx, 'chain.metadata_texts', metadata);
    await insertRows(
      tx,
      'chain.inscriptions',
      inscriptions.map(({ key, height, contentType, number: ordsNumber, curse }, at) => ({
        'key integer': key,
        'txid bytea': testTxid(key),
        'index integer': 0,
        'height integer': height,
        'tx_index integer': 1,
        'input integer': 0,
        'content_id integer': contentIds[at]!,
        'content_type bytea': contentType === null ? null : Buffer.from(contentType, 'latin1'),
        'number integer': ordsNumber,
        'flags smallint': 0,
        'metadata_id integer': metadataIds[at]!,
        'curse smallint': curse,
      })),
    );
    const detailed = inscriptions.filter((one) => one.metaprotocol !== null || one.properties !== null);
    await insertRows(
      tx,
      'chain.inscription_details',
      detailed.map(({ key, metaprotocol, properties }) => ({
        'key integer': key,
        'metaprotocol bytea': metaprotocol === null ? null : Buffer.from(metaprotocol),
        'properties_json text': properties,
      })),
    );
    await insertRows(
      tx,
      'chain.parents',
      inscriptions.flatMap(({ key, height, parents }) =>
        parents.map((parent, position) => ({
          'child_key integer': key,
          'position integer': position,
          'parent_key integer': parent,
          'height integer': height,
        })),
      ),
    );
    for (const inscription of inscriptions) this.inscriptions.push(inscription);
  }

  #contentId(content: TestContent, firstKey: number, added: Row[]): number {
    const hash = sha256(content.body);
    const variant = (content.encoding ?? 0) + (content.text === null ? 0 : 8);
    const name = `${hash.toString('hex')} ${variant}`;
    const known = this.#contents.get(name);
    if (known !== undefined) return known;
    const id = this.#contents.size;
    this.#contents.set(name, id);
    const stored = storedText(content);
    const { decoded } = content;
    added.push({
      'content_id integer': id,
      'sha256 bytea': hash,
      'variant smallint': variant,
      'text smallint': stored.text,
      'body bytea': Buffer.from(content.body),
      'folded bytea': stored.folded,
      'decoded_sha256 bytea': decoded === undefined ? null : sha256(decoded),
      'decoded_length integer': decoded?.length ?? null,
      'first_key integer': firstKey,
    });
    return id;
  }

  #metadataId(json: string, added: Row[]): number {
    const known = this.#metadata.get(json);
    if (known !== undefined) return known;
    const id = this.#metadata.size;
    this.#metadata.set(json, id);
    const bytes = Buffer.from(json);
    const folded = foldUtf8(bytes);
    added.push({
      'metadata_id integer': id,
      'sha256 bytea': sha256(bytes),
      'json bytea': bytes,
      'folded bytea': folded === null ? null : Buffer.from(folded),
    });
    return id;
  }

  async undoAbove(height: number, hook: UndoHook): Promise<void> {
    const kept = this.#blocks.slice(0, height + 1);
    const left = kept.at(-1) ?? { nextKey: 0, nextContentId: 0, nextMetadataId: 0 };
    const undone = this.#blocks.slice(height + 1).toReversed();
    await withTransaction(this.#pool, async (tx) => {
      await dropProperties(tx, left.nextKey);
      await tx.query('DELETE FROM chain.inscriptions WHERE key >= $1', [left.nextKey]);
      await tx.query('DELETE FROM chain.inscription_details WHERE key >= $1', [left.nextKey]);
      await tx.query('DELETE FROM chain.parents WHERE child_key >= $1', [left.nextKey]);
      await tx.query('DELETE FROM chain.contents WHERE content_id >= $1', [left.nextContentId]);
      await tx.query('DELETE FROM chain.metadata_texts WHERE metadata_id >= $1', [left.nextMetadataId]);
      await tx.query('DELETE FROM chain.blocks WHERE height > $1', [height]);
      for (const [index, { hash, sequence }] of undone.entries()) {
        await tx.query(addOutboxRow, [this.height - index, hash, sequence]);
      }
      await tx.query('UPDATE chain.state SET undo_epoch = undo_epoch + $3, tip_height = $1, tip_hash = $2', [
        ...(height < 0 ? [null, null] : [height, kept.at(-1)?.hash]),
        undone.length,
      ]);
      await hook(tx, left);
    });
    this.#sequence += undone.length;
    this.#blocks = kept;
    this.inscriptions = this.inscriptions.filter(({ key }) => key < left.nextKey);
    const numbers = this.inscriptions.map(({ number: one }) => one).filter((one) => one !== null);
    const cursed = numbers.filter((one) => one < 0).length;
    this.#numbers = { blessed: numbers.length - cursed, cursed };
    this.#contents = new Map([...this.#contents].filter(([, id]) => id < left.nextContentId));
    this.#metadata = new Map([...this.#metadata].filter(([, id]) => id < left.nextMetadataId));
  }

  async clear(): Promise<void> {
    await this.undoAbove(-1, async (tx) => {
      await tx.query(
        'TRUNCATE chain.search_segments, chain.search_postings, chain.search_columns, chain.search_lengths',
      );
    });
  }
}
