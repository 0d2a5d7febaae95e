import type { FastifyRequest } from 'fastify';

/**
 * The length that a request announces for its body, in bytes. 0: it announces no length, so the bytes of its chunks are
 * counted.
 */
export const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0);

/** Whether a body follows the head of a request, of a known length or in chunks. */
export const announcesBody = (request: FastifyRequest): boolean =>
  request.headers['transfer-encoding'] !== undefined || announcedBytes(request) !== 0;
