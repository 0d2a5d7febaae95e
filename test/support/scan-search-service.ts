import type pg from 'pg';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type {
  LookupRecord,
  Paging,
  RecordPage,
  SearchRecord,
  SearchService,
} from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { foldText } from '#kernel/text/fold.ts';

interface Row {
  record: SearchRecord;
  body: Buffer | null;
  sha256: Buffer | null;
}

/** A search service that reads every row each time: for tests of what stands in front of it. */
export function createScanSearchService(pool: pg.Pool): SearchService {
  return {
    textSearch: async ({ corpus, text, phrase, ...paging }) => {
      const needles = splitNeedles(text, phrase);
      const contains = ({ record }: Row): boolean => {
        const source = corpus === 'content' ? record.contentstr : record.metadatastr;
        return source !== null && needles.every((needle) => foldText(source).includes(foldText(needle)));
      };
      return {
        tip: await readTip(pool),
        value: { ...pageOf((await readRows(pool)).filter(contains), paging), needles },
      };
    },
    hashSearch: async ({ hash, ...paging }) => {
      const rows = (await readRows(pool)).filter(({ sha256 }) => sha256?.equals(hash) === true);
      return { tip: await readTip(pool), value: pageOf(rows, paging) };
    },
    hashes: async (hashes) => {
      const rows = await readRows(pool);
      const value = hashes.map((hash) => ({
        hash,
        first: rows.find(({ sha256 }) => sha256?.equals(hash) === true)?.record ?? null,
      }));
      return { tip: await readTip(pool), value };
    },
    inscription: async ({ txid, index }) => {
      const id = formatInscriptionId(txid, index);
      const found = (await readRows(pool)).find(({ record }) => record.inscriptionid === id);
      const value: LookupRecord | null =
        found === undefined
          ? null
          : {
              ...found.record,
              owner: null,
              content: found.body === null ? null : found.body.toString('hex'),
            };
      return { tip: await readTip(pool), value };
    },
  };
}

function splitNeedles(text: string, phrase: boolean): string[] {
  const needles = phrase ? [text] : text.split(',').map((part) => part.trim());
  const kept = needles.filter((needle) => needle !== '');
  if (kept.length === 0 || kept.length > 32 || kept.some((needle) => Array.from(needle).length > 1_000)) {
    throw new AppError('search_text_invalid', 'text needs 1 to 32 parts of 1 to 1,000 characters');
  }
  return kept;
}

function pageOf(rows: readonly Row[], { page, itemsPerPage }: Paging): RecordPage {
  const from = (page - 1) * itemsPerPage;
  return {
    records: rows.slice(from, from + itemsPerPage).map(({ record }) => record),
    totalItems: rows.length,
  };
}

async function readTip(pool: pg.Pool): Promise<Tip | null> {
  const { rows } = await pool.query<{ tip_height: number | null; tip_hash: Buffer }>(
    'SELECT tip_height, tip_hash FROM chain.state',
  );
  const row = rows[0];
  return row === undefined || row.tip_height === null ? null : { height: row.tip_height, hash: row.tip_hash };
}

async function readRows(pool: pg.Pool): Promise<Row[]> {
  const { rows } = await pool.query<{
    txid: Buffer;
    index: number;
    input: number;
    height: number;
    number: number | null;
    content_type: Buffer | null;
    body: Buffer | null;
    sha256: Buffer | null;
    text: number | null;
    json: Buffer | null;
    parsed_at: Date;
  }>(
    `SELECT i.*, c.body, c.sha256, c.text, m.json, b.parsed_at FROM chain.inscriptions i
     JOIN chain.blocks b ON b.height = i.height
     LEFT JOIN chain.contents c ON c.content_id = i.content_id
     LEFT JOIN chain.metadata_texts m ON m.metadata_id = i.metadata_id ORDER BY i.key`,
  );
  return rows.map((row) => ({
    body: row.body,
    sha256: row.sha256,
    record: {
      txid: Buffer.from(row.txid).reverse().toString('hex'),
      inputindex: String(row.input),
      inscriptionid: formatInscriptionId(row.txid, row.index),
      inscriptionnumber: row.number === null ? null : String(row.number),
      blockheight: String(row.height),
      contentstr: row.body !== null && row.text !== 0 ? row.body.toString('utf8') : null,
      contenttypestr: row.content_type === null ? null : row.content_type.toString('utf8'),
      contenthash: row.sha256 === null ? null : row.sha256.toString('hex'),
      contentlength: row.body === null ? null : String(row.body.length),
      metadatastr: row.json === null ? null : row.json.toString('utf8'),
      createdat: row.parsed_at.toISOString(),
    },
  }));
}
