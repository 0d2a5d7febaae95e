import { createHash } from 'node:crypto';
import { hash160 } from '@scure/btc-signer/utils.js';
import { pushPrefix } from '#kernel/bitcoin/script-push.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import type { FinalScripts, PsbtInput, SpentOutput } from './psbt.ts';
import { psbtFault } from './psbt-faults.ts';
import { type KeysScript, keysScript } from './script-template.ts';

/** The items that an input must provide: a signature and the key with this hash, or signatures of keys in a script. */
export type Wanted =
  | { readonly kind: 'key-hash'; readonly hash: Uint8Array }
  | ({ readonly kind: 'keys' } & KeysScript);

/** A spend that does not use Taproot. */
export interface EcdsaSpend {
  readonly kind: 'ecdsa';
  readonly scheme: 'legacy' | 'witness';
  /** The script that signatures commit to. */
  readonly code: Uint8Array;
  readonly wanted: Wanted;
  /** The script that follows the items, or null if there is no such script. */
  readonly redeemScript: Uint8Array | null;
  readonly witnessScript: Uint8Array | null;
}

/** The way in which an output is spent. `other`: by a script of an unknown form. */
export type Spend =
  | EcdsaSpend
  | { readonly kind: 'taproot'; readonly outputKey: Uint8Array }
  | { readonly kind: 'other' };

type Scripts = Pick<PsbtInput, 'redeemScript' | 'witnessScript'>;

const other = { kind: 'other' } as const;

/**
 * Determines how an input spends its output. Throws `PsbtFaults` if scripts are missing or belong to another output.
 * Pure.
 */
export function spendOf({ script }: SpentOutput, scripts: Scripts, place: number): Spend {
  if (scriptType(script) === 'p2tr') return { kind: 'taproot', outputKey: script.subarray(2) };
  if (scriptType(script) !== 'p2sh') return innerSpend(script, null, scripts, place);
  const { redeemScript } = scripts;
  if (redeemScript === null) throw psbtFault(`Input ${place}: its redeem script is missing.`);
  if (Buffer.compare(hash160(redeemScript), script.subarray(2, 22)) !== 0)
    throw psbtFault(`Input ${place}: its redeem script does not belong to the output that it spends.`);
  return innerSpend(redeemScript, redeemScript, scripts, place);
}

/** @param script script of the output, or its redeem script */
function innerSpend(
  script: Uint8Array,
  redeemScript: Uint8Array | null,
  { witnessScript }: Scripts,
  place: number,
): Spend {
  const spend = { kind: 'ecdsa', redeemScript, witnessScript: null } as const;
  const type = scriptType(script);
  if (type === 'p2pkh')
    return { ...spend, scheme: 'legacy', code: script, wanted: keyHash(script.subarray(3, 23)) };
  if (type === 'p2wpkh') {
    const hash = script.subarray(2);
    return { ...spend, scheme: 'witness', code: publicKeyHashCode(hash), wanted: keyHash(hash) };
  }
  if (type !== 'p2wsh') {
    const keys = keysScript(script);
    return keys === null
      ? other
      : { ...spend, scheme: 'legacy', code: script, wanted: { kind: 'keys', ...keys } };
  }
  if (witnessScript === null) throw psbtFault(`Input ${place}: its witness script is missing.`);
  if (Buffer.compare(createHash('sha256').update(witnessScript).digest(), script.subarray(2)) !== 0)
    throw psbtFault(`Input ${place}: its witness script does not belong to the output that it spends.`);
  const keys = keysScript(witnessScript);
  if (keys === null) return other;
  return {
    ...spend,
    scheme: 'witness',
    code: witnessScript,
    wanted: { kind: 'keys', ...keys },
    witnessScript,
  };
}

const keyHash = (hash: Uint8Array): Wanted => ({ kind: 'key-hash', hash });

/** The P2PKH script of a hash. P2WPKH signatures commit to this script (BIP 143). */
const publicKeyHashCode = (hash: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.of(0x76, 0xa9, 20), hash, Buffer.of(0x88, 0xac)]);

/** Makes the final fields of an input from the items that the input provides. Pure. */
export function finalScriptsOf(
  { scheme, redeemScript, witnessScript }: EcdsaSpend,
  items: readonly Uint8Array[],
): FinalScripts {
  const redeem = redeemScript === null ? [] : [redeemScript];
  if (scheme === 'legacy') return { scriptSig: pushes([...items, ...redeem]), witness: [] };
  const witness = witnessScript === null ? items : [...items, witnessScript];
  return { scriptSig: pushes(redeem), witness };
}

const opZero = 0;

const pushes = (items: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat(
    items.flatMap((item) =>
      item.length === 0 ? [Buffer.of(opZero)] : [Buffer.from(pushPrefix(item.length)), item],
    ),
  );
