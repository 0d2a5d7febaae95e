import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';

/** The price of an item in a rune of the index, and its receiver. */
export interface RunePrice {
  /** The account of the creator, which receives the price. */
  readonly account: string;
  /** The transaction that etched the rune. After a reorganisation, another transaction can etch the same name. */
  readonly etching: Txid;
  readonly rune: Rune;
  /** The rune's name with spacers. */
  readonly name: string;
  readonly divisibility: number;
  /** Price of an item in base units, above 0. */
  readonly amount: bigint;
}

/** SQL: the price in a rune of the collection `c`, as JSON. Null if the collection has no such price. */
export const runePriceColumn = `(SELECT jsonb_build_object('account', r.account, 'etching', encode(r.etching, 'hex'),
    'rune', r.rune::text, 'name', r.name, 'divisibility', r.divisibility, 'amount', r.amount::text)
  FROM service.mint_rune_prices AS r WHERE r.collection = c.id) AS rune_price`;

export interface RunePriceRow {
  readonly account: string;
  readonly etching: string;
  readonly rune: string;
  readonly name: string;
  readonly divisibility: number;
  readonly amount: string;
}

export const runePriceOf = (row: RunePriceRow | null): RunePrice | null =>
  row === null
    ? null
    : {
        ...row,
        etching: trustedTxid(Buffer.from(row.etching, 'hex')),
        rune: asRune(BigInt(row.rune)),
        amount: BigInt(row.amount),
      };
