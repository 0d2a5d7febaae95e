import { scriptType } from '#kernel/bitcoin/script-type.ts';
import { isRunestoneScript } from '#kernel/runes/runestone/runestone-script.ts';

const opReturn = 0x6a;

const words = {
  p2pkh: 'P2PKH',
  p2sh: 'P2SH',
  p2wpkh: 'P2WPKH',
  p2wsh: 'P2WSH',
  p2tr: 'P2TR (taproot)',
  p2a: 'P2A (anchor: anyone can spend it)',
  witness: 'a witness program of the future',
} as const;

/** The type of an output script, in common words. */
export function scriptWords(script: Uint8Array): string {
  const type = scriptType(script);
  if (type !== 'other') return words[type];
  if (script.length === 0) return 'an empty script';
  if (script[0] !== opReturn) return 'a script without an address';
  return isRunestoneScript(script) ? 'OP_RETURN with a runestone' : 'OP_RETURN with data';
}
