import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** Number of rounds that a client computes for each connection. It is the server's default (`scram_iterations`). */
const iterations = 4096;

/**
 * The form in which Postgres stores a password (RFC 5803). It is sent in place of the password, because the text of a
 * statement may be logged. Letters outside ASCII have several forms (RFC 4013), and the server chooses the form. So a
 * password with such letters stays unchanged.
 */
export function storedPassword(password: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[ -~]*$/u.test(password)) return password;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`;
}
