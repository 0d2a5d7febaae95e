import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isPointX } from './curve-point.ts';
import { type ParsedAddress, parseAddress } from './parse-address.ts';
import { scriptType } from './script-type.ts';

/**
 * The output script of an address that sats and inscriptions may be sent to. Total: addresses that anybody or no one
 * can spend are refused, too. `parseAddress` reads those that are only looked at.
 */
export function payableAddress(text: string, network: NetworkParameters): ParsedAddress {
  const parsed = parseAddress(text, network);
  if (parsed.kind === 'refused') return parsed;
  const reason = whyNotPayable(parsed.script);
  return reason === null ? parsed : { kind: 'refused', reason };
}

/**
 * Why nothing may be sent to the script of an address, in words that continue "the address"; null: it may. A script
 * that has no address is not judged.
 */
export function whyNotPayable(script: Uint8Array): string | null {
  const type = scriptType(script);
  if (type === 'p2a') return 'is an anchor, which anybody can spend';
  if (type === 'witness') return 'is of a witness version that no one can spend safely yet';
  return type === 'p2tr' && !isPointX(script.subarray(2))
    ? 'is a Taproot address that no one can spend: its key is not a point of the curve (BIP 341)'
    : null;
}
