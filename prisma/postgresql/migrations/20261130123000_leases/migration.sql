-- CreateTable
CREATE TABLE "agent_lease" (
    "chat_id" TEXT NOT NULL,
    "fence" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "taken_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "agent_lease_pkey" PRIMARY KEY ("chat_id")
);
