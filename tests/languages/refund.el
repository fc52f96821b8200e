;; é🙂
(defun refund (order amount)
  "Give it back."
  (> amount 0))

(defmacro twice (x)
  `(* 2 ,x))

(defsubst quick (x) x)

(defvar limit 5)
