import { AppError } from '#kernel/errors/app-error.ts';
import type { OutgoingHttp } from './outgoing-http.ts';

/** As many as people meet who move a file to another host. */
const redirectsMax = 3;

export interface FetchBounds {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The content of a file at a URL of a stranger; a text: why it is not to be had, after its name. Throws the reason of the signal. */
export async function fetchFile(
  outgoing: OutgoingHttp,
  url: string,
  bounds: FetchBounds,
): Promise<Uint8Array | string> {
  try {
    const { status, bytes } = await outgoing.get(url, { ...bounds, redirectsMax });
    return status === 200 ? bytes : `cannot be fetched: its server answers ${status}`;
  } catch (error) {
    bounds.signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    return `cannot be fetched: ${error.message}`;
  }
}
