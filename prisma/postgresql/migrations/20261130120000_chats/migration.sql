-- CreateEnum
CREATE TYPE "ChatStatus" AS ENUM ('active', 'archived');

-- CreateEnum
CREATE TYPE "ChatShare" AS ENUM ('private', 'team');

-- CreateEnum
CREATE TYPE "MessageRole" AS ENUM ('user', 'assistant');

-- CreateEnum
CREATE TYPE "MessageState" AS ENUM ('open', 'closed');

-- CreateEnum
CREATE TYPE "StepType" AS ENUM ('input', 'hook_create', 'llm', 'tool', 'hook_next', 'delegate');

-- CreateEnum
CREATE TYPE "StepStatus" AS ENUM ('pending', 'running', 'completed', 'failed', 'interrupted');

-- CreateEnum
CREATE TYPE "TurnStatus" AS ENUM ('queued', 'running', 'completed', 'interrupted', 'failed');

-- CreateTable
CREATE TABLE "agent_chat" (
    "id" SERIAL NOT NULL,
    "chat_id" TEXT COLLATE "C" NOT NULL,
    "title" TEXT,
    "title_search" TEXT,
    "assistant_id" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "status" "ChatStatus" NOT NULL,
    "preset" BOOLEAN NOT NULL,
    "public" BOOLEAN NOT NULL,
    "share" "ChatShare" NOT NULL,
    "sort" INTEGER NOT NULL,
    "last_message_at" TIMESTAMP(3),
    "activity_at" TIMESTAMP(3) NOT NULL,
    "last_sequence" INTEGER NOT NULL,
    "created_by" TEXT NOT NULL,
    "updated_by" TEXT,
    "team_id" TEXT,
    "tenant_id" TEXT,
    "created_at" TIMESTAMP(3) NOT NULL,
    "updated_at" TIMESTAMP(3) NOT NULL,
    "deleted_at" TIMESTAMP(3),
    "metadata" JSONB,

    CONSTRAINT "agent_chat_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_message" (
    "id" SERIAL NOT NULL,
    "message_id" TEXT NOT NULL,
    "chat_id" TEXT NOT NULL,
    "request_id" TEXT,
    "role" "MessageRole" NOT NULL,
    "type" TEXT NOT NULL,
    "block_id" TEXT,
    "thread_id" TEXT,
    "step_id" TEXT,
    "assistant_id" TEXT,
    "sequence" INTEGER NOT NULL,
    "state" "MessageState" NOT NULL,
    "created_by" TEXT,
    "updated_by" TEXT,
    "team_id" TEXT,
    "tenant_id" TEXT,
    "created_at" TIMESTAMP(3) NOT NULL,
    "updated_at" TIMESTAMP(3) NOT NULL,
    "deleted_at" TIMESTAMP(3),
    "metadata" JSONB,
    "props" JSONB NOT NULL,

    CONSTRAINT "agent_message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_revocation" (
    "id" SERIAL NOT NULL,
    "subject" TEXT NOT NULL,
    "tenant_id" TEXT,
    "user_id" TEXT,
    "token_id" TEXT,
    "revoked_by" TEXT NOT NULL,
    "revoked_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "agent_revocation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_step" (
    "id" SERIAL NOT NULL,
    "step_id" TEXT NOT NULL,
    "chat_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "assistant_id" TEXT NOT NULL,
    "stack_id" TEXT NOT NULL,
    "stack_parent_id" TEXT,
    "stack_depth" INTEGER NOT NULL,
    "type" "StepType" NOT NULL,
    "status" "StepStatus" NOT NULL,
    "sequence" INTEGER NOT NULL,
    "begin_order" INTEGER NOT NULL,
    "created_by" TEXT,
    "updated_by" TEXT,
    "team_id" TEXT,
    "tenant_id" TEXT,
    "created_at" TIMESTAMP(3) NOT NULL,
    "updated_at" TIMESTAMP(3) NOT NULL,
    "deleted_at" TIMESTAMP(3),
    "metadata" JSONB,
    "error" JSONB,
    "space_snapshot" JSONB,
    "input" JSONB,
    "output" JSONB,

    CONSTRAINT "agent_step_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_turn" (
    "id" SERIAL NOT NULL,
    "request_id" TEXT NOT NULL,
    "chat_id" TEXT NOT NULL,
    "assistant_id" TEXT NOT NULL,
    "status" "TurnStatus" NOT NULL,
    "background" BOOLEAN NOT NULL,
    "attempt" INTEGER NOT NULL,
    "stop_reason" TEXT,
    "fingerprint" TEXT NOT NULL,
    "root_stack_id" TEXT NOT NULL,
    "regenerates" TEXT,
    "opened_by" TEXT,
    "created_by" TEXT NOT NULL,
    "updated_by" TEXT,
    "team_id" TEXT,
    "tenant_id" TEXT,
    "created_at" TIMESTAMP(3) NOT NULL,
    "started_at" TIMESTAMP(3),
    "ended_at" TIMESTAMP(3),
    "updated_at" TIMESTAMP(3) NOT NULL,
    "deleted_at" TIMESTAMP(3),
    "error" JSONB,
    "usage" JSONB,
    "metadata" JSONB,

    CONSTRAINT "agent_turn_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_chat_chat_id_key" ON "agent_chat"("chat_id");

-- CreateIndex
CREATE INDEX "idx_chat_assistant" ON "agent_chat"("assistant_id");

-- CreateIndex
CREATE INDEX "idx_chat_status" ON "agent_chat"("status");

-- CreateIndex
CREATE INDEX "idx_chat_share" ON "agent_chat"("share");

-- CreateIndex
CREATE INDEX "idx_chat_last_msg" ON "agent_chat"("last_message_at");

-- CreateIndex
CREATE INDEX "idx_chat_created" ON "agent_chat"("created_at");

-- CreateIndex
CREATE INDEX "idx_chat_mine" ON "agent_chat"("tenant_id", "created_by", "activity_at", "chat_id");

-- CreateIndex
CREATE INDEX "idx_chat_team" ON "agent_chat"("tenant_id", "team_id", "share", "activity_at", "chat_id");

-- CreateIndex
CREATE INDEX "idx_chat_public" ON "agent_chat"("tenant_id", "public", "activity_at", "chat_id");

-- CreateIndex
CREATE INDEX "idx_chat_tenant" ON "agent_chat"("tenant_id", "activity_at", "chat_id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_message_message_id_key" ON "agent_message"("message_id");

-- CreateIndex
CREATE INDEX "idx_msg_request" ON "agent_message"("request_id", "chat_id", "sequence");

-- CreateIndex
CREATE INDEX "idx_msg_block" ON "agent_message"("block_id", "chat_id", "sequence");

-- CreateIndex
CREATE INDEX "idx_msg_thread" ON "agent_message"("thread_id", "chat_id", "sequence");

-- CreateIndex
CREATE INDEX "idx_msg_assistant" ON "agent_message"("assistant_id");

-- CreateIndex
CREATE UNIQUE INDEX "idx_msg_chat_seq" ON "agent_message"("chat_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "agent_revocation_subject_key" ON "agent_revocation"("subject");

-- CreateIndex
CREATE UNIQUE INDEX "agent_step_step_id_key" ON "agent_step"("step_id");

-- CreateIndex
CREATE INDEX "idx_step_chat" ON "agent_step"("chat_id", "deleted_at", "status");

-- CreateIndex
CREATE INDEX "idx_step_status" ON "agent_step"("status");

-- CreateIndex
CREATE INDEX "idx_step_stack" ON "agent_step"("stack_id");

-- CreateIndex
CREATE INDEX "idx_step_parent" ON "agent_step"("stack_parent_id");

-- CreateIndex
CREATE INDEX "idx_step_assistant" ON "agent_step"("assistant_id");

-- CreateIndex
CREATE UNIQUE INDEX "idx_step_request" ON "agent_step"("request_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "agent_turn_request_id_key" ON "agent_turn"("request_id");

-- CreateIndex
CREATE INDEX "idx_turn_chat" ON "agent_turn"("chat_id", "deleted_at", "id");

-- CreateIndex
CREATE INDEX "idx_turn_status" ON "agent_turn"("status");


