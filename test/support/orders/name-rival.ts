import { runeCommitment } from '#kernel/runes/rune.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { Inscribed, RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { Coin } from '#test/builders/regtest/regtest-transaction.ts';
import { runestoneScript } from '#test/builders/runestone-script.ts';

const opDrop = 0x75;

/** Makes a stranger's transactions that etch a name. The first one claims the name. */
export function nameRival(chain: RegtestChain, name: string, from?: Coin): Promise<Inscribed> {
  const { rune } = parseSpacedRune(name)!;
  const commitment = runeCommitment(rune);
  const etching = { ...plainEtching, rune, premine: asU128(7n) };
  const runestone = runestoneScript({ etching });
  return chain.inscribe(Uint8Array.of(commitment.length, ...commitment, opDrop), {
    payments: [{ value: 10_000 }, { value: 0, outputScript: runestone }],
    ...(from === undefined ? {} : { from }),
  });
}
