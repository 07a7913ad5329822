export interface Cluster {
  readonly url: string;
  /** Resolves when it takes connections. */
  start(): Promise<void>;
  /** @param mode `fast` ends connections; `immediate` is a crash */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Ends it, running or not, and deletes its folder. */
  remove(): void;
}

/** Whether the machine has what it takes. */
export function canMakeCluster(): boolean;
export function makeCluster(): Promise<Cluster>;
