import { createHash } from 'node:crypto';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { foldUtf8 } from '#kernel/text/fold.ts';

/** A body as a test wants it stored. */
export interface TestContent {
  readonly type: string;
  readonly body: Uint8Array;
  /** What is searched: the body, or what it decodes to; null where it is no text. */
  readonly text: string | null;
  /** 0 none, 1 br, 2 gzip, 3 zstd, 4 unknown. Default 0. */
  readonly encoding?: number;
  /** The decoded body, where it could be decoded. */
  readonly decoded?: Uint8Array;
}

export interface TestInscription {
  readonly content: TestContent | null;
  readonly metadata: string | null;
}

/** An inscription as it stands in the tables. */
export interface StoredInscription extends TestInscription {
  readonly key: number;
  readonly height: number;
}

/** A chain of blocks of inscriptions, written by SQL: the writer is not under test here. */
export interface SearchRows {
  readonly inscriptions: readonly StoredInscription[];
  readonly height: number;
  /** Commits one block and returns its height. */
  addBlock(inscriptions: readonly TestInscription[]): Promise<number>;
  /** Takes back what is above a height, a block after the other, in one transaction with `hook`. */
  undoAbove(height: number, hook: UndoHook): Promise<void>;
  /** Takes everything back. */
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

/** A txid that is the key's own. */
export const testTxid = (key: number): Buffer => sha256(Buffer.from(`transaction ${key}`));

export const text = (value: string, type = 'text/plain'): TestContent => ({
  type,
  body: Buffer.from(value),
  text: value,
});

export async function createSearchRows(pool: pg.Pool): Promise<SearchRows> {
  await pool.query(
    `INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules) VALUES ('regtest', $1, 1, 1)`,
    [Buffer.alloc(32)],
  );
  return new SqlRows(pool);
}

/** chain.contents.text and .folded */
function storedText(content: TestContent): { text: number; folded: Buffer | null } {
  if (content.text === null) return { text: 0, folded: null };
  const searched = Buffer.from(content.text);
  const folded = foldUtf8(searched);
  if (folded === null && (content.encoding ?? 0) === 0) return { text: 1, folded: null };
  return { text: 2, folded: Buffer.from(folded ?? searched) };
}

interface Block {
  readonly hash: Buffer;
  /** Of its row of the outbox. */
  readonly sequence: number;
  readonly nextKey: number;
  readonly nextContentId: number;
  readonly nextMetadataId: number;
}

class SqlRows implements SearchRows {
  readonly #pool: pg.Pool;
  inscriptions: StoredInscription[] = [];
  #blocks: Block[] = [];
  #contents = new Map<string, number>();
  #metadata = new Map<string, number>();
  /** Rows of the outbox so far: hashes of blocks are made of it, so that none comes twice. */
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

  async addBlock(inscriptions: readonly TestInscription[]): Promise<number> {
    const height = this.#blocks.length;
    const { nextKey: firstKey } = this.#next;
    await withTransaction(this.#pool, async (tx) => {
      for (const [index, inscription] of inscriptions.entries()) {
        await this.#insert(tx, firstKey + index, height, inscription);
      }
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
         VALUES ($1, $2, $3, 0, '2026-01-02T03:04:05.678Z', 1, 1, 0, true, true, $4, $5, $6, $7)`,
        [height, hash, Buffer.alloc(80), firstKey, block.nextKey, block.nextContentId, block.nextMetadataId],
      );
      await tx.query(addOutboxRow, [height, hash, null]);
      await tx.query('UPDATE chain.state SET tip_height = $1, tip_hash = $2', [height, hash]);
      this.#sequence = sequence;
      this.#blocks.push(block);
    });
    return height;
  }

  async #insert(tx: pg.ClientBase, key: number, height: number, inscription: TestInscription): Promise<void> {
    const { content, metadata } = inscription;
    const contentId = content === null ? null : await this.#contentId(tx, content);
    const metadataId = metadata === null ? null : await this.#metadataId(tx, metadata);
    await tx.query(
      `INSERT INTO chain.inscriptions
         (key, txid, index, height, tx_index, input, content_id, content_type, number, flags, metadata_id)
       VALUES ($1, $2, 0, $3, 1, 0, $4, $5, $1, 0, $6)`,
      [
        key,
        testTxid(key),
        height,
        contentId,
        content === null ? null : Buffer.from(content.type, 'latin1'),
        metadataId,
      ],
    );
    this.inscriptions.push({ ...inscription, key, height });
  }

  async #contentId(tx: pg.ClientBase, content: TestContent): Promise<number> {
    const hash = sha256(content.body);
    const variant = (content.encoding ?? 0) + (content.text === null ? 0 : 8);
    const name = `${hash.toString('hex')} ${variant}`;
    const known = this.#contents.get(name);
    if (known !== undefined) return known;
    const id = this.#contents.size;
    this.#contents.set(name, id);
    const stored = storedText(content);
    await tx.query(
      `INSERT INTO chain.contents (content_id, sha256, variant, text, body, folded, decoded_sha256, decoded_length,
         first_key)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, (SELECT coalesce(max(key) + 1, 0) FROM chain.inscriptions))`,
      [
        id,
        hash,
        variant,
        stored.text,
        Buffer.from(content.body),
        stored.folded,
        content.decoded === undefined ? null : sha256(content.decoded),
        content.decoded?.length ?? null,
      ],
    );
    return id;
  }

  async #metadataId(tx: pg.ClientBase, json: string): Promise<number> {
    const known = this.#metadata.get(json);
    if (known !== undefined) return known;
    const id = this.#metadata.size;
    this.#metadata.set(json, id);
    const bytes = Buffer.from(json);
    const folded = foldUtf8(bytes);
    await tx.query(
      'INSERT INTO chain.metadata_texts (metadata_id, sha256, json, folded) VALUES ($1, $2, $3, $4)',
      [id, sha256(bytes), bytes, folded === null ? null : Buffer.from(folded)],
    );
    return id;
  }

  async undoAbove(height: number, hook: UndoHook): Promise<void> {
    const kept = this.#blocks.slice(0, height + 1);
    const left = kept.at(-1) ?? { nextKey: 0, nextContentId: 0, nextMetadataId: 0 };
    const undone = this.#blocks.slice(height + 1).toReversed();
    await withTransaction(this.#pool, async (tx) => {
      await tx.query('DELETE FROM chain.inscriptions WHERE key >= $1', [left.nextKey]);
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
    this.#contents = new Map([...this.#contents].filter(([, id]) => id < left.nextContentId));
    this.#metadata = new Map([...this.#metadata].filter(([, id]) => id < left.nextMetadataId));
  }

  async clear(): Promise<void> {
    await this.undoAbove(-1, async (tx) => {
      await tx.query('TRUNCATE chain.search_segments, chain.search_postings, chain.search_columns');
    });
  }
}
