// The pane Send: a payload from the example of the schema, and the outcomes of what this tab has sent.
import { RejectedError, UnknownOutcomeError, decodeValue } from './statecast.js'
import { $, button, duration, element, group, json, printable, section } from './format.js'

const KEPT = 30

export class Send {
  constructor(app) { this.app = app }

  /** Begins or continues the session of this tab with a store. */
  connect() {
    this.sender?.close()
    this.sender = null
    this.form = null
    this.outcomes = element('tbody')
    if (!this.app.has('send')) return
    const resumed = ({ number, action }, outcome) => this.record(action, outcome, number)
    this.sender = this.app.client.sender(this.app.store, { storage: sessionStorage, onResumed: resumed })
  }

  async show() {
    try {
      if (!this.form) this.form = await this.made()
      $('detail').replaceChildren(...this.form)
    } catch (error) {
      $('detail').replaceChildren(section(null, element('p', { class: 'note error', role: 'alert' }, error.message),
        button('Try again', () => this.show())))
    }
  }

  async made() {
    const { actions } = await this.app.get('schema')
    const choice = element('select', { id: 'send-action' }, actions.map(({ name }) => element('option', {}, name)))
    const payload = element('textarea', { id: 'send-payload', rows: 12, spellcheck: 'false', autocomplete: 'off' })
    const problem = element('p', { class: 'note error', role: 'alert', id: 'send-problem' })
    const submit = element('button', { class: 'btn main', type: 'submit' }, 'Send')
    const fill = () => {
      payload.value = json(actions[choice.selectedIndex]?.example ?? {}, '', '  ')
      submit.textContent = `Send ${choice.value}`
      problem.textContent = ''
    }
    choice.onchange = fill
    const send = event => {
      event.preventDefault()
      problem.textContent = ''
      try {
        const value = decodeValue(JSON.parse(payload.value))
        this.record(choice.value, this.sender.send(choice.value, value))
      } catch (error) { problem.textContent = `The payload is not JSON: ${error.message}` }
    }
    fill()
    const note = 'A lost answer is safe: the page repeats an action with its number, and the gateway returns the first outcome. '
      + 'Integers beyond 2^53 are written {"$int":"…"}.'
    const form = element('form', { class: 'form', onsubmit: send }, element('label', { for: 'send-action' }, 'action'), choice,
      element('label', { for: 'send-payload' }, 'payload'), payload, problem, element('div', { class: 'copy' }, submit, button('Reset', fill)))
    return [section('Send an action', form, element('p', { class: 'note' }, note)),
      section('Sent from this tab', element('table', { class: 'blame', id: 'sent' }, this.outcomes))]
  }

  async record(action, outcome, number) {
    const cells = ['r', null, null, 'r', 'r'].map(name => element('td', { class: name }))
    const show = (...texts) => texts.forEach((text, index) => { cells[index].textContent = text })
    this.outcomes.prepend(element('tr', {}, cells))
    while (this.outcomes.children.length > KEPT) this.outcomes.lastChild.remove()
    const begin = performance.now()
    show(number ?? '', action, 'waiting', '', '')
    try {
      const done = await outcome
      cells[2].className = 'green'
      show(group(done.number), action, 'applied', group(done.revision), duration(performance.now() - begin))
    } catch (error) {
      const status = error instanceof RejectedError ? `rejected ${error.code}` : error instanceof UnknownOutcomeError ? 'unknown' : error.code ?? 'failed'
      cells[2].className = 'red'
      cells[2].title = printable(error.message)
      show(error.number ?? number ?? '', action, `${status}: ${printable(error.message)}`, '', duration(performance.now() - begin))
    }
  }
}
