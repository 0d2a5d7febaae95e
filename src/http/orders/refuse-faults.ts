import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { type Faulty, faultsMax, type RequestFault } from '#kernel/requests/request-values.ts';

/** The error of a request with at least one fault. */
export function refuseFaults(faults: readonly RequestFault[]): InvalidRequest {
  const [first, ...others] = faults.slice(0, faultsMax);
  return new InvalidRequest([first ?? { message: 'the request is not valid' }, ...others]);
}

/** Returns the result of a check if it has no faults. Throws `request_invalid` if it has faults. */
export function unlessFaulty<Given extends { readonly kind: string }>(
  given: Given | Faulty,
): Exclude<Given, Faulty> {
  if (isFaulty(given)) throw refuseFaults(given.faults);
  return given as Exclude<Given, Faulty>;
}

const isFaulty = (given: { readonly kind: string }): given is Faulty => given.kind === 'faulty';
