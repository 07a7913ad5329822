/** Its path: TEST_BROWSER where that is set, or what stands in PATH; empty where there is none. */
export function findBrowser(): string;
