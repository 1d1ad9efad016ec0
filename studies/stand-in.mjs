// Takes the place of a program of a study on the simulated card: it prints COUNT lines of JSON with the named numbers, which are 1.
//   node stand-in.mjs COUNT NAME…
const [count, ...names] = process.argv.slice(2);
const line = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])));
for (let i = 0; i < Number(count); i++) console.log(line);
