import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores, and every database test talks to one PostgreSQL: more workers only queue behind each other.
    maxWorkers: 2,
  },
});
