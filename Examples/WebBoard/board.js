import { Statecast } from "/statecast.js";

const element = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token") ?? "";
sessionStorage.setItem("token", token);
const gateway = new Statecast("/", { token });

const row = ({ name, latest, busy, lastSeen }) => {
    const cells = [name, latest.load1, `${Math.round((busy ?? 0) * 100)} %`, new Date(lastSeen).toLocaleTimeString()];
    const result = document.createElement("tr");
    for (const text of cells) result.insertCell().textContent = text;
    return result;
};
const item = ({ text }) => Object.assign(document.createElement("li"), { textContent: text });
const following = gateway.follow("fleet", ["/hosts", "/notes"], (values) => {
    element("hosts").replaceChildren(...Object.values(values["/hosts"]).map(row));
    element("notes").replaceChildren(...values["/notes"].map(item));
}, { onStatus: (status, { error }) => { element("status").textContent = error?.message ?? status; } });

const sender = gateway.sender("fleet", { storage: sessionStorage });
element("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
        const receipt = await sender.send("NoteAdded", { text: element("note").value });
        await following.reached(receipt); // from here on, the list has the note
        element("outcome").textContent = `applied as revision ${receipt.revision}`;
    } catch (error) { element("outcome").textContent = error.message; }
});
