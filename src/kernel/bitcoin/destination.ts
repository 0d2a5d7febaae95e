import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isPointX } from './curve-point.ts';
import { parseAddress } from './parse-address.ts';
import { type ScriptType, scriptType } from './script-type.ts';
import { dustOf } from './transaction-size.ts';

/** A destination of sats, inscriptions or runes. */
export type Destination = (
  | { readonly address: string; readonly network: NetworkParameters }
  | { readonly script: Uint8Array }
) & {
  /** Sats of the output. `null` if the amount is decided later, when the signer checks it. */
  readonly amount: bigint | null;
};

/**
 * Rule for scripts of this service. If `later`, the caller checks these scripts afterwards (`checkDestinations`). If
 * `allowed`, the money does not belong to this service, so it may go to this service. A function returns whether a
 * script belongs to this service.
 */
export type OwnRule = ((script: Uint8Array) => boolean) | 'later' | 'allowed';

export type DestinationFault = 'address' | 'anyone' | 'unspendable' | 'nonstandard' | 'own' | 'dust';

export interface RefusedDestination {
  readonly kind: 'refused';
  readonly code: DestinationFault;
  /** Reason in words for people. It continues a sentence that begins with "the address". */
  readonly reason: string;
}

export type CheckedDestination =
  | { readonly kind: 'script'; readonly script: Uint8Array }
  | RefusedDestination;

const refused = (code: DestinationFault, reason: string): RefusedDestination => ({
  kind: 'refused',
  code,
  reason,
});

/** Reason, in words for people, why no payment goes to a script of this service. */
export const ownScriptReason = 'is an address of this service, which sends nothing to itself';

const unowned: Readonly<Partial<Record<ScriptType, RefusedDestination>>> = {
  p2a: refused('anyone', 'is an anchor, which anybody can spend'),
  witness: refused('unspendable', 'has a witness version that no one can spend safely yet'),
  other: refused('nonstandard', 'has a script without an address'),
};
const offCurve = refused(
  'unspendable',
  'is a Taproot address that no one can spend, because its key is not a point of the curve (BIP 341)',
);

/**
 * Decides whether money may go to a destination. The destination must be an address of the network. Its script must
 * have a type that someone can own, have a key on the curve, and not belong to this service. Nodes must relay the
 * amount. No other code decides this. Pure; any input has a result. A Taproot script takes some 30 microseconds.
 */
export function checkDestination(to: Destination, isOwn: OwnRule): CheckedDestination {
  const parsed = 'address' in to ? parseAddress(to.address, to.network) : to;
  if ('kind' in parsed && parsed.kind === 'refused') return refused('address', parsed.reason);
  const { script } = parsed;
  const type = scriptType(script);
  const fault = unowned[type];
  if (fault !== undefined) return fault;
  if (type === 'p2tr' && !isPointX(script.subarray(2))) return offCurve;
  if (typeof isOwn === 'function' && isOwn(script)) return refused('own', ownScriptReason);
  const dust = dustOf(script);
  if (to.amount !== null && to.amount < BigInt(dust))
    return refused('dust', `gets ${to.amount} sats, but nodes relay at least ${dust} sats to this address`);
  return { kind: 'script', script };
}

/** A script that will be paid. */
export type PaidScript = Extract<Destination, { readonly script: Uint8Array }>;

/** Returns those of the given scripts that belong to this service. */
export type OwnAmong = (scripts: readonly Uint8Array[]) => Promise<readonly Uint8Array[]>;

/** Number of scripts that are checked between two turns of the event loop. They take 3 ms. */
const checkedInTurn = 100;

/**
 * Checks destinations. The scripts of this service are looked up once for all destinations. Returns the refused
 * destinations.
 */
export async function checkDestinations<Paid extends PaidScript>(
  destinations: readonly Paid[],
  ownAmong: OwnAmong,
): Promise<readonly (RefusedDestination & { readonly destination: Paid })[]> {
  // check each script once, because 10,000 files may go to the same address
  const scripts = new Map(destinations.map(({ script }) => [hexOf(script), script]));
  const own = new Set((await ownAmong([...scripts.values()])).map(hexOf));
  const checked = new Map<string, CheckedDestination>();
  const refusedOnes: (RefusedDestination & { readonly destination: Paid })[] = [];
  for (const destination of destinations) {
    const { script, amount } = destination;
    const name = `${hexOf(script)} ${amount}`;
    let result = checked.get(name);
    if (result === undefined) {
      result = checkDestination(destination, () => own.has(hexOf(script)));
      checked.set(name, result);
      if (checked.size % checkedInTurn === 0) await nextTurn();
    }
    if (result.kind === 'refused') refusedOnes.push({ ...result, destination });
  }
  return refusedOnes;
}

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
