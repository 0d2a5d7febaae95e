import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentType } from './customer-address.ts';

/** A method with which pages request signatures from a wallet (test/fixtures/wallets/ORIGIN.md). */
export interface WalletCall {
  readonly wallet: 'Xverse' | 'UniSat' | 'Leather' | 'OKX';
  readonly call: string;
  readonly addresses: 'one' | 'two';
  readonly paymentTypes: readonly PaymentType[];
  readonly arguments: readonly unknown[];
  readonly returns: 'hex' | Readonly<Record<string, 'hex' | 'base64'>>;
  readonly isFinal: boolean;
}

export const walletCalls = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/wallets/calls.json'), 'utf8'),
) as readonly WalletCall[];

/** Fields of a request to a builder and of its response, by name. */
export type CallValues = Readonly<Record<string, unknown>>;

const placeholder = /^<([A-Za-z0-9]+)>$/u;
const repetition = /^<each ([A-Za-z0-9]+)>$/u;

/** Fills the arguments of a call with their values. */
export function argumentsOf({ arguments: given }: WalletCall, values: CallValues): readonly unknown[] {
  return given.map((each) => filled(each, values));
}

function filled(value: unknown, values: CallValues): unknown {
  if (typeof value === 'string') return valueIn(value, values);
  if (Array.isArray(value)) return value.flatMap((item) => repeated(item, values) ?? [filled(item, values)]);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [valueIn(name, values), filled(part, values)]),
  );
}

function valueIn(text: string, values: CallValues): unknown {
  const [, name] = placeholder.exec(text) ?? [];
  if (name === undefined) return text;
  if (!(name in values)) throw new Error(`a call has no value for ${name}`);
  return values[name];
}

/** Repeats an object for each index; `null` if `item` is not an object to repeat. */
function repeated(item: unknown, values: CallValues): unknown[] | null {
  const [entry] = typeof item === 'object' && item !== null ? Object.entries(item) : [];
  const [, name] = repetition.exec(entry?.[0] ?? '') ?? [];
  if (entry === undefined || name === undefined) return null;
  return (values[name] as readonly number[]).map((index) => filled(entry[1], { ...values, index }));
}

/** Reads the PSBT from the result of a wallet. */
export function signedPsbtIn({ returns }: WalletCall, returned: unknown): string {
  if (returns === 'hex') return returned as string;
  const [name = ''] = Object.keys(returns);
  return (returned as Readonly<Record<string, string>>)[name]!;
}
