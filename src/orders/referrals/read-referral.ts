import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import { readAddress } from '#orders/reading/read-order.ts';

/** A referral code, and the address to which its share is paid. */
export interface ReferralRequest {
  readonly code: string;
  readonly address: string;
  readonly script: Uint8Array;
}

/** Visible ASCII, because a code is part of links, and because two different codes should not look the same. */
const codePattern = /^[!-~]{1,64}$/u;

/** Whether a referral can have this code. */
export const isReferralCode = (text: string): boolean => codePattern.test(text);

/** Reads the code and the address of a referral. Never throws: any value gives a referral or its faults. */
export function readReferralRequest(
  given: { readonly referral?: unknown; readonly address?: unknown },
  network: NetworkParameters,
): { readonly kind: 'read'; readonly referral: ReferralRequest } | Faulty {
  const values = new RequestValues();
  const code = values.text(given.referral, 'referral');
  if (code === null) values.required(given.referral, 'referral');
  else if (!isReferralCode(code))
    values.fault('referral', 'must be 1 to 64 letters (without accents), digits or signs, without spaces');
  const script = readAddress(values, given.address, 'address', { network, purpose: 'order' });
  const address = values.text(given.address, 'address');
  return code === null || address === null || values.faults.length > 0
    ? { kind: 'faulty', faults: values.faults }
    : { kind: 'read', referral: { code, address, script } };
}
