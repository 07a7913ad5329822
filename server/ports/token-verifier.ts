/**
 * Tells a token that was really issued for this server from any other text.
 *
 * Promises of every implementation: the signature is right by a key and an algorithm that the settings name, never by
 * what the token says of itself; issuer and audience are those of the settings; it is neither expired nor too young.
 */
export interface TokenVerifier {
  /**
   * The claims of a token that holds.
   *
   * @throws {ChatError} `unauthenticated`, `token_expired`; `internal` while the keys cannot be had
   */
  verify(token: string): Promise<Readonly<Record<string, unknown>>>;
}
