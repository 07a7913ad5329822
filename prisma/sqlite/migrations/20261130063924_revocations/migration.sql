-- CreateTable
CREATE TABLE "agent_revocation" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "subject" TEXT NOT NULL,
    "tenant_id" TEXT,
    "user_id" TEXT,
    "token_id" TEXT,
    "revoked_by" TEXT NOT NULL,
    "revoked_at" DATETIME NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_revocation_subject_key" ON "agent_revocation"("subject");
