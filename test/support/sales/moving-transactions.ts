import type {
  Coin,
  Move,
  MovingInput,
  MovingTransaction,
  SignedAs,
} from '#indexer/ledger/sales/moving-transaction.ts';

/** The Taproot script of an owner. The owner's name is a letter. */
export const tap = (owner: string): string => `\x51\x20${owner.repeat(32)}`;
/** A script of a key hash. */
export const wpkh = (owner: string): string => `\x00\x14${owner.repeat(20)}`;
export const schnorr = (sighash = 0): SignedAs => ({ kind: 'schnorr', sighash });
export const ecdsa = (sighash = 1): SignedAs => ({ kind: 'ecdsa', sighash });
/** SINGLE|ANYONECANPAY. */
export const pairType = 0x83;

export const input = (script: string, value: number, ...signatures: SignedAs[]): MovingInput => ({
  script,
  value,
  signatures: signatures.length > 0 ? signatures : [script.startsWith('\x51') ? schnorr() : ecdsa()],
});
export const output = (script: string, value: number): Coin => ({ script, value });
export const move = (at: number, landing: number | null, place = 0, key = at * 10 + place): Move => ({
  key,
  input: at,
  place,
  landing,
});
/** Alice sells an item in an output of 546 sats, and is paid 50,000. Bob buys the item. */
export const openordex = (overrides: Partial<MovingTransaction> = {}): MovingTransaction => ({
  inputs: [input(tap('b'), 600), input(tap('a'), 10_000, schnorr(pairType)), input(tap('b'), 90_000)],
  outputs: [
    output(tap('b'), 10_600),
    output(tap('a'), 50_000),
    output(tap('b'), 1_000),
    output(tap('b'), 38_000),
  ],
  moves: [move(1, 0)],
  ...overrides,
});

/** The layout of Magic Eden, OKX and ordit. The payout is output 2, the fee of the platform is output 3. */
export const twoDummies = (seller: MovingInput, payout = output(tap('a'), 59_500)): MovingTransaction => ({
  inputs: [input(wpkh('p'), 600), input(wpkh('p'), 600), seller, input(wpkh('p'), 200_000)],
  outputs: [
    output(wpkh('p'), 1_200),
    output(tap('b'), 10_000),
    payout,
    output(wpkh('f'), 1_500),
    output(wpkh('p'), 600),
    output(wpkh('p'), 600),
    output(wpkh('p'), 120_000),
  ],
  moves: [move(2, 1)],
});
