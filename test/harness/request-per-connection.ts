/** Where a server is several nodes: a request does not go where the one before went, as it would on a connection that is kept. */
const request = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
  headers.set('connection', 'close');
  return request(input, { ...init, headers });
};
