import { AppError } from '#kernel/errors/app-error.ts';

/** The node's own code for a scan that it does not begin, and for others. */
const invalidParameter = -8;

/** The failure of a scan of unspent outputs: `node_scan_busy` while the node makes another one. */
export function scanFailure(error: unknown): unknown {
  const isBusy =
    error instanceof AppError &&
    error.details['rpcCode'] === invalidParameter &&
    /scan already in progress/iu.test(error.message);
  if (!isBusy) return error;
  return new AppError(
    'node_scan_busy',
    'The node scans its unspent outputs already, for an earlier command that was ended or for another program, and makes one scan at a time: try again in a minute.',
  );
}
