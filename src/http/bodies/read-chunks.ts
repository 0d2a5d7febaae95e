import type { IncomingMessage } from 'node:http';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Number of bytes after which each chunk takes its own turn of the event loop. Nearly all bodies are shorter. */
const freeBytes = 64 * 1024;

/**
 * Passes each chunk of a body to `take` when it arrives. The next chunk is passed only when `take` is ready for it.
 * Chunks of a long body wait for the turns of `client`. Throws `request_invalid` if a body ends early, and the errors
 * of `take`. After an error, the rest of the body is not read.
 */
export function readChunks(
  payload: IncomingMessage,
  client: string,
  take: (chunk: Uint8Array) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let bytes = 0;
    const settle = (outcome: () => void): void => {
      isSettled = true;
      payload.off('data', onData).off('end', onEnd).off('close', onCut);
      outcome();
    };
    const onData = (chunk: Buffer): void => {
      let taking: Promise<void> | undefined;
      try {
        taking = take(chunk);
      } catch (error) {
        refuse(error);
        return;
      }
      bytes += chunk.byteLength;
      if (taking === undefined && bytes <= freeBytes) return;
      payload.pause();
      Promise.all([taking, bytes > freeBytes ? nextTurn(client) : undefined]).then(() => {
        if (!isSettled) payload.resume();
      }, refuse);
    };
    const refuse = (error: unknown): void => {
      if (isSettled) return;
      payload.pause();
      settle(() => reject(error as Error));
    };
    const onEnd = (): void => {
      settle(resolve);
    };
    const onCut = (): void => {
      settle(() => reject(new AppError('request_invalid', 'the body ended before it was complete')));
    };
    if (payload.destroyed) {
      onCut();
      return;
    }
    payload.on('data', onData).once('end', onEnd).once('close', onCut);
    // ignore this event, because `close` also reports a broken connection
    payload.on('error', () => undefined);
  });
}
