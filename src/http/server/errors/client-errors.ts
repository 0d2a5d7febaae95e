import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

// Errors of Node's parser. Each has a status and a message of this service.
const clientErrors: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the URL and headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request took too long' },
  // set by bodies/small-chunks.ts
  SATSCRIBE_SMALL_CHUNKS: { status: 400, message: 'the chunks of the body are too small' },
};

/**
 * Answers the errors of Node's HTTP parser (431, 413, 408, 400) in the form of other errors. By default Node closes the
 * connection with an empty answer.
 */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = clientErrors[error.code ?? ''] ?? {
    status: 400,
    message: 'this is not an HTTP request',
  };
  const body = JSON.stringify({ status: 'error', error: message });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Access-Control-Allow-Origin: *',
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
