import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import type { CoinParts } from './coin-parts.ts';

/** Refuses a customer's addresses if one of them belongs to the service. Returns null if both are the customer's. */
export async function whyOwn(
  { ownAmong }: Pick<CoinParts, 'ownAmong'>,
  { payment, ordinals }: Signers,
): Promise<PsbtRefusal | null> {
  if (ownAmong === null) return null;
  const own = await ownAmong([payment.script, ordinals.script]);
  const [signer] = [payment, ordinals].filter(({ script }) =>
    own.some((each) => Buffer.compare(each, script) === 0),
  );
  return signer === undefined ? null : refusedPsbt(`${signer.address} is an address of this service.`);
}
