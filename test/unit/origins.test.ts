import { expect, test } from 'vitest';
import { createOriginPolicy } from '../../server/wire/http/origins.js';

const host = 'chat.example.com';

test('C51: whoever runs the server is told of each origin whose pages are refused, once, and of no flood of them', () => {
  const told: string[] = [];
  const policy = createOriginPolicy({
    corsOrigins: ['https://app.example.com'],
    loopbackOnly: false,
    onRefused: (origin) => told.push(origin),
  });
  expect(policy.admits({ origin: 'https://app.example.com', host })).toBe(true);
  expect(policy.admits({ origin: `https://${host}`, host })).toBe(true);
  for (let times = 0; times < 2; times++) expect(policy.admits({ origin: 'https://evil.example', host })).toBe(false);
  expect(told).toEqual(['https://evil.example']);
  for (let n = 0; n < 100; n++) expect(policy.admits({ origin: `https://evil-${n}.example`, host })).toBe(false);
  expect(told).toHaveLength(20);
});
