import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** The server's own number (`scram_iterations`): a client computes this many rounds for each connection. */
const iterations = 4096;

/**
 * The form in which Postgres stores a password (RFC 5803), sent in its place because the text of a statement may be
 * logged. Other letters than ASCII have several forms (RFC 4013), between which the server decides: such a password
 * stays as it is.
 */
export function storedPassword(password: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[ -~]*$/u.test(password)) return password;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`;
}
