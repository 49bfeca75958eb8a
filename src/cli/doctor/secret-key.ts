/** Whether the service could start with this machine's SECRET_KEY, or would refuse to (identity/own-key.ts). */
import { foreignKey, isOwnKey } from "../../identity/own-key.ts";
import type { Config } from "../../platform/config.ts";
import type { Database } from "../../platform/database/pool.ts";
import { findFingerprint } from "../../platform/secret-key-store.ts";
import { createSecrets, findSecretKey } from "../../platform/secrets.ts";
import { sentence } from "../sentence.ts";
import { type Finding, of } from "./finding.ts";

/** Makes no key where there is none. */
export async function checkSecretKey(
  db: Database,
  { SECRET_KEY, DATA_DIR }: Pick<Config, "SECRET_KEY" | "DATA_DIR">,
): Promise<Finding> {
  const say = of("secret key");
  const foreign = () => say("fault", `${sentence(foreignKey())}.`);
  try {
    const key = findSecretKey(SECRET_KEY, DATA_DIR);
    if (key !== undefined) {
      const isOwn = await isOwnKey(db, createSecrets(key));
      return isOwn ? say("ok", "It is the one that the database belongs to.") : foreign();
    }
    if ((await findFingerprint(db)) !== undefined) return foreign();
    return say("not_checked", "There is none yet: the first start makes it.");
  } catch (fault) {
    return say("fault", `The secret key cannot be read: ${sentence(fault)}.`);
  }
}
