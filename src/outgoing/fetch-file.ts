import { AppError } from '#kernel/errors/app-error.ts';
import type { OutgoingHttp } from './outgoing-http.ts';

/** Maximum number of redirects. A moved file needs three: to https, to another host, and to its path there. */
const redirectsMax = 3;

export interface FetchBounds {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Fetches a file from a URL of a stranger. If the result is a text, it is the reason of the failure, and follows the
 * name of the file. Throws the reason of the signal.
 */
export async function fetchFile(
  outgoing: OutgoingHttp,
  url: string,
  bounds: FetchBounds,
): Promise<Uint8Array | string> {
  try {
    const { status, bytes } = await outgoing.get(url, { ...bounds, redirectsMax });
    return status === 200 ? bytes : `cannot be fetched, because its server answers with status ${status}`;
  } catch (error) {
    bounds.signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    return `cannot be fetched: ${error.message}`;
  }
}
