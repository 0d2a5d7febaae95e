/** Codes of Node for a certificate that Node does not accept (Node manual, "X509 certificate error codes"). */
const certificateCode =
  /^(?:UNABLE_TO_|CERT_|CRL_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|HOSTNAME_MISMATCH$|ERR_TLS_CERT_)/u;
/** Codes of Node and OpenSSL for a handshake that failed for another reason. */
const handshakeCode = /^(?:EPROTO$|ERR_SSL_|ERR_OSSL_|ERR_TLS_)/u;
/** Message if a peer ends the connection during a handshake, because Node has no code for this case. */
const cutHandshake = /before secure TLS connection was established/u;

/**
 * The reason why a TLS connection failed. `certificate` if the peer's certificate is not trusted. `handshake` if the
 * peer does not speak TLS, or refuses TLS in our form. `null` if the failure is not about TLS.
 */
export function tlsFailure(error: unknown): 'certificate' | 'handshake' | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && certificateCode.test(code)) return 'certificate';
  const isHandshake = typeof code === 'string' && handshakeCode.test(code);
  return isHandshake || cutHandshake.test(error.message) ? 'handshake' : null;
}
