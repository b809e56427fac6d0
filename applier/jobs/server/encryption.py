"""The encryption of a connection: MySQL's ssl-mode, MariaDB's equivalents, and the resulting TLS settings.

    DISABLED          no TLS
    PREFERRED         TLS if the server offers it; certificates are not verified (the default)
    REQUIRED          TLS; certificates are not verified
    VERIFY_CA         TLS; ssl-ca verifies the server's certificate
    VERIFY_IDENTITY   as VERIFY_CA, and the certificate is that of the server's host

Sources: MySQL Reference Manual, "Command Options for Encrypted Connections"; MariaDB documentation, "Securing
Connections for Client and Server".
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import Any

from applier.errors import reason
from applier.io.printable import printable
from applier.jobs.server.option_file import OptionFile

MODES = ("disabled", "preferred", "required", "verify_ca", "verify_identity")
"""From the weakest to the strongest."""
_DISABLED, _PREFERRED, _REQUIRED, _VERIFY_CA, _VERIFY_IDENTITY = MODES
_VERIFYING = (_VERIFY_CA, _VERIFY_IDENTITY)
_VERIFIES = "ssl-verify-server-cert"
_SIGNERS = ("ssl-ca", "ssl-capath")
_REVOCATIONS = ("ssl-crl", "ssl-crlpath")
_ASK_FOR_TLS = ("ssl-cert", "ssl-key", "ssl-cipher", "tls-version", *_REVOCATIONS)
_FILES = ("ssl-cert", "ssl-key", *_SIGNERS, *_REVOCATIONS)
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True)
class Encryption:
    """A mode, and the settings of TLS if a mode stronger than PREFERRED requires it."""

    mode: str = _PREFERRED
    context: ssl.SSLContext | None = None

    @classmethod
    def of(cls, file: OptionFile) -> Encryption:
        """Return the settings of an option file. Raises UsageError if its words contradict each other, or name files
        that cannot be used."""
        mode = _mode(file)
        return cls(mode, None if mode in (_DISABLED, _PREFERRED) else _context(mode, file))

    @property
    def verifies(self) -> bool:
        """True if only the server that a certificate names can be at the other end."""
        return self.mode in _VERIFYING

    def arguments(self, *, is_socket: bool) -> dict[str, Any]:
        """Return arguments for PyMySQL. A Unix socket needs no TLS that is only preferred."""
        if self.mode == _DISABLED or (self.mode == _PREFERRED and is_socket):
            return {"ssl_disabled": True}
        return {} if self.context is None else {"ssl": self.context}


def _mode(file: OptionFile) -> str:
    """Return the strongest mode that a word asks for."""
    given = file.texts.get("ssl-mode")
    if given is not None and given.lower() not in MODES:
        raise file.refused(f"ssl-mode is {given[:32]!r}", f"give one of {', '.join(MODES).upper()}")
    asked = {_PREFERRED if given is None else given.lower()}
    if file.flags.get("ssl") is False:
        asked = asked - {_PREFERRED} | {_DISABLED}
    if file.flags.get("ssl"):
        asked.add(_REQUIRED)
    if file.flags.get(_VERIFIES):
        asked.add(_VERIFY_IDENTITY)
    if _DISABLED in asked:
        if len(asked) > 1:
            raise file.refused("the option file both disables TLS and asks for it", "remove one of the words")
        return _DISABLED
    mode = max(asked, key=MODES.index)
    if _has(file, _SIGNERS) and file.flags.get(_VERIFIES, True) and (given is None or mode == _PREFERRED):
        mode = _VERIFY_IDENTITY
    elif mode == _PREFERRED and _has(file, (*_SIGNERS, *_ASK_FOR_TLS)):
        mode = _REQUIRED
    _check_signers(mode, file)
    return mode


def _check_signers(mode: str, file: OptionFile) -> None:
    """Raise UsageError if it is not clear how, or whether, the server's certificate is verified."""
    verifies = file.flags.get(_VERIFIES)
    if mode in _VERIFYING:
        if verifies is False:
            raise file.refused(f"ssl-mode is {mode.upper()}, and {_VERIFIES} is off", "remove one of them")
        if not _has(file, _SIGNERS) and not verifies:
            raise file.refused(f"ssl-mode is {mode.upper()}, and neither ssl-ca nor ssl-capath says who may sign",
                               "add ssl-ca=FILE")
    elif _has(file, _SIGNERS) and verifies is None:
        raise file.refused("ssl-mode is REQUIRED, which does not verify the server by ssl-ca",
                           "use ssl-mode=VERIFY_IDENTITY, or remove ssl-ca")
    elif _has(file, _REVOCATIONS):
        raise file.refused("ssl-crl needs a certificate that is verified",
                           "add ssl-mode=VERIFY_IDENTITY and ssl-ca=FILE")


def _has(file: OptionFile, words: tuple[str, ...]) -> bool:
    return not file.texts.keys().isdisjoint(words)


def _context(mode: str, file: OptionFile) -> ssl.SSLContext:
    """TLS as a mode and the words of a file ask for it. Without ssl-ca and ssl-capath, the system's certificates
    verify."""
    texts = file.texts
    for word in _FILES:
        if word in texts and not os.access(texts[word], os.R_OK):
            raise file.refused(f"cannot read what {word} names: {printable(texts[word])}")
    try:
        context = ssl.create_default_context(cafile=texts.get("ssl-ca"), capath=texts.get("ssl-capath"))
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # the certificates that MySQL makes for itself do not pass it
        context.check_hostname = mode == _VERIFY_IDENTITY
        if mode == _REQUIRED:
            context.verify_mode = ssl.CERT_NONE
        if certificate := texts.get("ssl-cert", texts.get("ssl-key")):
            context.load_cert_chain(certificate, texts.get("ssl-key"), texts.get("ssl-passphrase", ""))
        if "ssl-cipher" in texts:
            context.set_ciphers(texts["ssl-cipher"])
        if _has(file, _REVOCATIONS):
            context.load_verify_locations(texts.get("ssl-crl"), texts.get("ssl-crlpath"))
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        said = reason(error) if isinstance(error, OSError) else str(error)
        raise file.refused(f"cannot prepare TLS as the option file asks for it: {said}",
                           "check the files of ssl-ca, ssl-cert, ssl-key and ssl-crl, and the names in ssl-cipher"
                           ) from None
    if "tls-version" in texts:
        versions = [_VERSIONS.get(name.strip()) for name in texts["tls-version"].split(",")]
        known = [version for version in versions if version is not None]
        if len(known) < len(versions):
            raise file.refused("tls-version has a version that is not supported", f"give {', '.join(_VERSIONS)}")
        context.minimum_version, context.maximum_version = min(known), max(known)
    return context
