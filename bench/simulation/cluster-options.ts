/** A cluster at rest, before something happens to it. */
export interface ClusterOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly connections: number;
  /** Chats that somebody follows, each owned by one node. */
  readonly chats: number;
  /** Of them: those in which a turn runs. */
  readonly runningShare: number;
  /** Events that the record of a chat holds, on average. */
  readonly eventsPerRecord: number;
  /** Of chats: those that are followed from another node than their owner. */
  readonly remoteShare: number;
  readonly redisShards: number;
  readonly postgresCores: number;
}
