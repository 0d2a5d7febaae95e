import assert from 'node:assert/strict';
import {
  formatInscriptionId,
  type InscriptionId,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { formatRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import type { Etching } from '#kernel/runes/runestone/artifact.ts';
import { termsOfTexts, textsOfTerms } from '#kernel/runes/terms.ts';
import { u128OrNull } from '#kernel/runes/u128.ts';
import type {
  Content,
  FileTerms,
  InventoryTerms,
  MintTerms,
  OrderTerms,
} from '#orders/inscribing/order-terms.ts';

/**
 * SQL: the number of outputs for the premine and the mints of an order. `terms` is an SQL expression for the stored
 * terms.
 */
export const runeOutputs = (terms: string): string =>
  `((coalesce(${terms} #>> '{etching,premine}', '0') <> '0')::integer + coalesce((${terms} #>> '{mint,count}')::integer, 0))`;

interface StoredFile {
  readonly contentType: string | null;
  readonly body: number | null;
  readonly contentEncoding: string | null;
  readonly metaprotocol: string | null;
  readonly metadata: number | null;
  readonly delegate: string | null;
}

interface StoredInventory {
  readonly value: string;
  readonly place: string;
}

/** An etching as JSON. Numbers that may be above 2^53 - 1 are texts. */
interface StoredEtching extends Pick<Etching, 'spacers' | 'divisibility' | 'symbol' | 'turbo'> {
  readonly rune: string | null;
  readonly premine: string | null;
  /** Texts that `termsOfTexts` reads, in its sequence. Null if the rune cannot be minted. */
  readonly terms: readonly (string | null)[] | null;
}

/** Mints as JSON. The name is a text because it may be above 2^53 - 1. The id is a text, too: `<block>:<tx>`. */
interface StoredMintTerms extends Pick<MintTerms, 'spacers' | 'count'> {
  readonly rune: string;
  readonly id: string;
}

/**
 * The terms of an order as JSON. Contents are stored as lengths, because their bytes are in the leaf. Sats are stored
 * as texts.
 */
export interface StoredTerms {
  readonly version: 1;
  readonly type: OrderTerms['type'];
  readonly files: readonly StoredFile[];
  readonly receivers: readonly string[];
  readonly postage: string;
  readonly feeRate: string;
  readonly batchMode: OrderTerms['batchMode'];
  readonly parents: readonly { readonly id: string; readonly value: string; readonly returnScript: string }[];
  readonly burn: boolean;
  readonly uncurse: boolean;
  readonly additionalFee: string;
  readonly nonStandard: boolean;
  /**
   * One inventory sat for each file. Absent if the order uses no inventory sats. Orders from before lists were
   * supported have a single value.
   */
  readonly inventory?: StoredInventory | readonly StoredInventory[];
  /** The etching of the order. Absent if the order etches nothing. */
  readonly etching?: StoredEtching;
  /** The mints of the order. Absent if the order mints nothing. */
  readonly mint?: StoredMintTerms;
}

/** The value of the column `terms`. `termsOf` restores terms that plan the same transactions. */
export function storedTerms(terms: OrderTerms): StoredTerms {
  return {
    version: 1,
    type: terms.type,
    files: terms.files.map((file) => ({
      contentType: file.contentType,
      body: lengthOf(file.body),
      contentEncoding: file.contentEncoding,
      metaprotocol: file.metaprotocol,
      metadata: lengthOf(file.metadata),
      delegate: file.delegate === null ? null : idText(file.delegate),
    })),
    receivers: terms.receivers.map(hexOf),
    postage: String(terms.postage),
    feeRate: String(terms.feeRate),
    batchMode: terms.batchMode,
    parents: terms.parents.map(({ id, value, returnScript }) => ({
      id: idText(id),
      value: String(value),
      returnScript: hexOf(returnScript),
    })),
    burn: terms.burn,
    uncurse: terms.uncurse,
    additionalFee: String(terms.additionalFee),
    nonStandard: terms.nonStandard,
    ...(terms.inventory === null
      ? {}
      : {
          inventory: terms.inventory.map(({ value, place }) => ({
            value: String(value),
            place: String(place),
          })),
        }),
    ...(terms.etching === null ? {} : { etching: storedEtching(terms.etching) }),
    ...(terms.mint === null ? {} : { mint: storedMint(terms.mint) }),
  };
}

const storedEtching = ({
  rune,
  premine,
  terms,
  spacers,
  divisibility,
  symbol,
  turbo,
}: Etching): StoredEtching => ({
  rune: rune === null ? null : String(rune),
  premine: premine === null ? null : String(premine),
  terms: terms === null ? null : textsOfTerms(terms),
  spacers,
  divisibility,
  symbol,
  turbo,
});

const storedMint = ({ rune, spacers, id, count }: MintTerms): StoredMintTerms => ({
  rune: String(rune),
  spacers,
  id: formatRuneId(id),
  count,
});

/** The mints of stored terms. */
export function mintTermsOf({ rune, spacers, id: text, count }: StoredMintTerms): MintTerms {
  const id = parseRuneId(text);
  assert(id !== null, `${text} is no id of a rune`);
  return { rune: asRune(BigInt(rune)), spacers, id, count };
}

/** The etching of stored terms. */
export const etchingOf = ({
  rune,
  premine,
  terms,
  spacers,
  divisibility,
  symbol,
  turbo,
}: StoredEtching): Etching => ({
  rune: rune === null ? null : asRune(BigInt(rune)),
  premine: u128OrNull(premine),
  terms: terms === null ? null : termsOfTexts(terms),
  spacers,
  divisibility,
  symbol,
  turbo,
});

/** Number of outputs with postage for the receivers of an order. */
export const storedPostages = ({
  files,
  etching,
  mint,
}: Pick<StoredTerms, 'files' | 'etching' | 'mint'>): number =>
  files.length + ((etching?.premine ?? '0') === '0' ? 0 : 1) + (mint?.count ?? 0);

/** Number of items that an order pays for, as in `chargedItems`. */
export const storedItems = ({
  files,
  etching,
  mint,
}: Pick<StoredTerms, 'files' | 'etching' | 'mint'>): number =>
  mint?.count ?? (etching === undefined ? files.length : Math.max(1, files.length));

/** Restores terms from their stored form, without the bytes of contents. The inverse of `storedTerms`. */
export function termsOf(stored: StoredTerms): OrderTerms {
  assert(stored.version === 1, `terms of version ${String(stored.version)}`);
  return {
    type: stored.type,
    files: stored.files.map(
      (file): FileTerms => ({ ...file, delegate: file.delegate === null ? null : idOf(file.delegate) }),
    ),
    receivers: stored.receivers.map(bytesOf),
    postage: stored.postage === 'least' ? 'least' : BigInt(stored.postage),
    feeRate: BigInt(stored.feeRate),
    batchMode: stored.batchMode,
    parents: stored.parents.map(({ id, value, returnScript }) => ({
      id: idOf(id),
      value: BigInt(value),
      returnScript: bytesOf(returnScript),
    })),
    burn: stored.burn,
    uncurse: stored.uncurse,
    additionalFee: BigInt(stored.additionalFee),
    nonStandard: stored.nonStandard,
    inventory: stored.inventory === undefined ? null : [stored.inventory].flat().map(inventoryOf),
    etching: stored.etching === undefined ? null : etchingOf(stored.etching),
    mint: stored.mint === undefined ? null : mintTermsOf(stored.mint),
  };
}

const inventoryOf = ({ value, place }: StoredInventory): InventoryTerms => ({
  value: BigInt(value),
  place: BigInt(place),
});

function lengthOf(content: Content | null): number | null {
  if (content === null || typeof content === 'number') return content;
  return content.length;
}

const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

function idOf(text: string): InscriptionId {
  const id = parseInscriptionId(text);
  assert(id !== null, `${text} is no inscription id`);
  return id;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
