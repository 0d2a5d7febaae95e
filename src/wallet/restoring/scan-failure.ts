import { AppError } from '#kernel/errors/app-error.ts';

/** The node's error code for a scan that it refuses to start. It also has other causes. */
const invalidParameter = -8;

/** Converts the failure of a scan of unspent outputs: to `node_scan_busy` if the node runs another scan. */
export function scanFailure(error: unknown): unknown {
  const isBusy =
    error instanceof AppError &&
    error.details['rpcCode'] === invalidParameter &&
    /scan already in progress/iu.test(error.message);
  if (!isBusy) return error;
  return new AppError(
    'node_scan_busy',
    'The node already scans its unspent outputs, for an earlier command that was ended or for another program. It runs one scan at a time: try again in a minute.',
  );
}
