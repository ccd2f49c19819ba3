// The endings of files that matter to models; those of models are the ones that package.json lists.

const MODELS = ["pml", "prom", "promela", "pr", "spin", "pmlx"];

/** Files that hold models. */
export const MODEL_FILES = `**/*.{${MODELS.join(",")}}`;

/** Files that hold models, parts of them, or what a project chooses. */
export const FILES_THAT_MATTER = `**/{fabius.toml,${[...MODELS, "h", "inc"].map((ending) => `*.${ending}`).join(",")}}`;
