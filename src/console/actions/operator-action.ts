import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { ApprovalOptions } from '#collections/approving/approval-faults.ts';
import type { ApprovalParts } from '#collections/approving/approve-collection.ts';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import type { ConsoleInput, ConsolePart } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import type { ProveFree } from '#orders/funds/free-coins.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { type PublicWallet, requirePublicWallet } from '#wallet/public-wallet.ts';

/** The parts with which operators act. Commands get the same parts from the settings. */
export interface ActingParts {
  /** Connections of the role that owns the tables. */
  readonly pool: pg.Pool;
  /** The setting PAYOUT_CONFIRMATIONS. */
  readonly confirmations: number;
  /** Throws `config_invalid` if this setting is too low for the network. */
  readonly requirePayoutDepth: (network: NetworkName) => void;
  readonly proveFree: ProveFree;
  /** Throws `destination_own` for any address of the wallet, and the codes of the node. */
  readonly requireForeign: (wallet: PublicWallet, destination: NamedScript) => Promise<void>;
  readonly approval: Omit<ApprovalParts, 'onMissing' | 'onStored'> & { readonly options: ApprovalOptions };
}

export interface NamedScript {
  readonly to: string;
  readonly script: Uint8Array;
}

/** Values of a form, by name. A missing value is ''. */
export type ActionFields = Readonly<Record<string, string>>;

/** The effect that an action would have now. */
export interface Proposal {
  /** The effect in plain words, with amounts, addresses and fees. */
  readonly parts: readonly ConsolePart[];
  /** The state on which the effect depends. If this state changes before the confirmation arrives, nothing is done. */
  readonly seen: unknown;
  /** Values of the confirmation that replace typed ones, as the exact amount instead of everything. */
  readonly fixed?: ActionFields;
  /** Acts, in the transaction of the proposal. Returns the result in words. */
  readonly act: () => Promise<string>;
}

/** An action of an operator that moves money, or that decides where money goes. */
export interface OperatorAction {
  readonly title: string;
  readonly button: string;
  /** Names of the values that links to the action contain. */
  readonly given: readonly string[];
  /** Values that the operator types. */
  readonly inputs: readonly ConsoleInput[];
  /** Words above the form that asks for the values. */
  readonly about: string;
  /** The changed thing, as in `order 6f1c2b1e-…`. */
  readonly target: (fields: ActionFields) => string;
  /** The page of this thing. */
  readonly back: (fields: ActionFields) => string;
  /** Checks that need no transaction. Changes nothing. */
  readonly check?: (parts: ActingParts, fields: ActionFields) => Promise<void>;
  /** Work before the transaction of a confirmed action, as fetching files. */
  readonly prepare?: (parts: ActingParts, fields: ActionFields) => Promise<void>;
  /** Locks what the action changes, and reads the effect. Refuses with an AppError. */
  readonly propose: (
    tx: pg.ClientBase,
    parts: ActingParts,
    fields: ActionFields,
    by: string,
  ) => Promise<Proposal>;
}

/** Maximum number of characters of a reason. The database has the same bound. */
const reasonMax = 1000;
/** Maximum number of characters of an address. Those of witness programs have at most 90. */
const addressMax = 100;

export const reasonInput = (readers: string): ConsoleInput => ({
  name: 'reason',
  label: `Reason, ${readers}`,
  maxLength: reasonMax,
  isRequired: true,
});

export const addressInput: ConsoleInput = {
  name: 'to',
  label: 'Address that receives the money',
  maxLength: addressMax,
  isRequired: true,
};

/** A value of a form; '' if it is missing. */
export const valueOf = (fields: ActionFields, name: string): string => fields[name] ?? '';

/** The digest of a state. A confirmation contains the digest of the state that its operator saw. */
export function digestOf(state: unknown): string {
  const text = JSON.stringify(state, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return createHash('sha256').update(text).digest('base64url');
}

/** The script of a typed address. Throws `destination_refused`. */
export function scriptOfAddress(to: string, network: NetworkName): Uint8Array {
  const checked = checkDestination({ address: to, network: networks[network], amount: null }, 'later');
  if (checked.kind === 'script') return checked.script;
  throw new AppError(
    'destination_refused',
    `${to} cannot be used, because the address ${checked.reason}, and the wallet is of ${network}. Type another address.`,
  );
}

/** The wallet that pays. Throws `wallet_missing`, and `config_invalid` if payouts would be too early. */
export async function payingWallet(
  client: pg.Pool | pg.ClientBase,
  { requirePayoutDepth }: ActingParts,
): Promise<PublicWallet> {
  const wallet = await requirePublicWallet(client);
  requirePayoutDepth(wallet.network);
  return wallet;
}

/** Throws if the typed address is one of the wallet. */
export async function requireForeignAddress(parts: ActingParts, fields: ActionFields): Promise<void> {
  const wallet = await payingWallet(parts.pool, parts);
  const to = valueOf(fields, 'to');
  await parts.requireForeign(wallet, { to, script: scriptOfAddress(to, wallet.network) });
}

/** The fee rate that the node estimates now, in words. */
export async function rateNow(client: pg.ClientBase): Promise<string> {
  const policy = await readNodePolicy(client);
  const rate = policy?.estimate ?? policy?.leastFeeRate;
  return rate === undefined ? 'not known yet' : `${Number(rate) / 1000} sats per virtual byte`;
}

export const words = (...sentences: readonly string[]): ConsolePart => ({ kind: 'words', words: sentences });
