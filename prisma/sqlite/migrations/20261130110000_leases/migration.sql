-- CreateTable
CREATE TABLE "agent_lease" (
    "chat_id" TEXT NOT NULL PRIMARY KEY,
    "fence" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "taken_at" DATETIME NOT NULL
);
